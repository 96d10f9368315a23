import { spawn } from "node:child_process";
import { mkdirSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { removeTree } from "../../src/base/remove-tree.ts";
import type { Leftover } from "../../src/model/run.ts";
import type { CreateOptions } from "../../src/sdk/options.ts";
import { useDockerEngine } from "../helpers/docker-engine.ts";
import { Installation, eventually, processesNaming } from "../helpers/installation.ts";
import { SmolvmStandIn } from "../helpers/smolvm-stand-in.ts";

const docker = useDockerEngine();

it("G-81 a clean-up ends sandboxes whose home is gone, on every backend, and nothing that only looks like one", async () => {
  const smolvm = new SmolvmStandIn();
  const env = { ...docker.engine.env, ...smolvm.env };
  await using at = new Installation("hl", env);
  const gone = new Installation("hg", env);
  const there = await at.sdk.createWorkspace({ environment: "host", backend: "container" });
  const backends = { container: "host", docker: "host", vm: "debian:12", smolmachines: "debian:12" };
  const lost = new Map<string, string>();
  for (const [backend, environment] of Object.entries(backends)) {
    const open: CreateOptions =
      backend === "container" ? { network_policy: "egress", allow_hosts: ["a.example.test"] } : {};
    const { workspace_id: id } = await gone.sdk.createWorkspace({ environment, backend, ...open });
    lost.set(id, backend);
  }
  await gone.sdk.stopDaemon();
  await gone.sdk.close();
  const [first = ""] = lost.keys();
  const log = join(gone.home, "workspaces", first, "g1/wall.log");
  // Of these, each is like a sandbox's in one way and not in the other.
  const lookAlikes = [
    spawn("sleep", ["1000"], { stdio: ["ignore", openSync(log, "a"), openSync(log, "a")] }),
    spawn("sh", ["-c", "sleep 1000", "--hostname", first], { stdio: "ignore" }),
    spawn("sh", ["-c", "sleep 1000; :", "--hostname", first], { stdio: ["ignore", openSync(log, "a"), "ignore"] }),
  ];
  const own = at.path("own/workspaces/ws-aaaaaaaaaa/g1");
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, "wall.log"), "");
  const kept = openSync(join(own, "wall.log"), "a");
  lookAlikes.push(
    spawn("sh", ["-c", "sleep 1000; :", "--hostname", "ws-aaaaaaaaaa"], { stdio: ["ignore", kept, kept] }),
  );
  rmSync(own, { recursive: true }); // its home is there
  const image = (await docker.engine.docker("images", "-q")).split("\n")[0] ?? "";
  const labels = [
    "--label",
    "cloche.home=0123456789",
    "--label",
    `cloche.directory=${gone.home}/workspaces/${first}/g1`,
  ];
  await docker.engine.docker("create", "--name", `cloche-0123456789-${first}-g1`, ...labels, image, "true");
  const homeless = ({ removed }: { removed: Leftover[] }) =>
    removed.filter(({ reason }) => reason.includes(gone.home)).map(({ workspace_id: id, backend }) => [id, backend]);
  expect(homeless(await at.sdk.cleanUp({ dry_run: true }))).toEqual([]);
  await removeTree(gone.root);
  const expected = [...lost].toSorted();
  expect(homeless(await at.sdk.cleanUp({ dry_run: true })).toSorted()).toEqual(expected);
  expect((await at.cli(["cleanup", "--dry-run"])).stdout).toContain("sandbox (");
  expect(homeless(await at.sdk.cleanUp({})).toSorted()).toEqual(expected);
  expect(homeless(await at.sdk.cleanUp({}))).toEqual([]);
  // Its gates end by themselves.
  await eventually(() => expect(processesNaming(gone.root)).toEqual([]));
  for (const { pid, exitCode, signalCode } of lookAlikes) {
    expect([exitCode, signalCode]).toEqual([null, null]);
    process.kill(pid ?? 0);
  }
  expect(await docker.engine.leftovers()).toEqual([`cloche-0123456789-${first}-g1`]);
  await docker.engine.docker("rm", `cloche-0123456789-${first}-g1`);
  expect(await smolvm.machines()).toEqual([]);
  expect((await at.sdk.execWorkspace(there.workspace_id, { command: "echo alive" })).stdout).toBe("alive\n");
  await smolvm.remove();
});
