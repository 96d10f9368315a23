import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { timeCommand, timeToReady } from "../timed-command.mjs";

/**
 * The runtime below Docker, alone: its own default configuration over the same root file system.
 *
 * @param {{ directory: string, rootfs: string }} given
 */
export async function prepareRunc({ directory, rootfs }) {
  const bundle = join(directory, "bundle");
  mkdirSync(bundle);
  await timeCommand(["runc", "spec", "--bundle", bundle]);
  const path = join(bundle, "config.json");
  const config = JSON.parse(readFileSync(path, "utf8"));
  config.root = { path: rootfs, readonly: true };
  config.process.terminal = false;
  config.process.args = ["echo", "ready"];
  delete config.process.rlimits; // a host may not let anybody raise them
  writeFileSync(path, JSON.stringify(config));
  let count = 0;
  return {
    runToFirstOutput: () =>
      timeToReady(["runc", "--root", join(directory, "runc"), "run", "--bundle", bundle, `bench-${++count}`]),
  };
}
