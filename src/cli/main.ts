#!/usr/bin/env node
import { packageVersion } from "../base/version.ts";

/**
 * The entry. `--version` is answered here with nothing else loaded: scripts and completions ask for it often. Everything else is
 * imported after that question is settled.
 */
const args = process.argv.slice(2);

const [first] = args.filter((arg) => arg !== "--json");

if (first === "--version" || first === "-V") {
  const version = packageVersion();
  process.stdout.write(args.includes("--json") ? `${JSON.stringify({ version })}\n` : `cloche ${version}\n`);
} else {
  const [{ runCli }, { processIo }] = await Promise.all([import("./run-cli.ts"), import("./process-io.ts")]);
  const code = await runCli(args, processIo());
  // An inherited standard input that nobody closes would keep the process alive; output is written by now.
  process.exit(code);
}
