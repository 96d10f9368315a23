import type { CliIo } from "../../src/cli/io.ts";
import { runCli } from "../../src/cli/run-cli.ts";
import { Cloche } from "../../src/sdk/cloche.ts";
import { type CliResult, type Installation, PROJECT } from "./installation.ts";
import { createMemoryIo } from "./memory-io.ts";

/**
 * What `at.cli(args)` gives, without a process for it: for tables of many calls, of which a few are made by the real program too. The daemon behind it is the
 * installation's own.
 */
export async function cliInProcess(at: Installation, args: readonly string[]): Promise<CliResult> {
  const memory = createMemoryIo({ env: at.env as Record<string, string> });
  memory.stdin.end();
  const io: CliIo = {
    ...memory,
    hasPipedInput: () => false,
    cwd: PROJECT,
    program: "cloche",
    connect: () => Promise.resolve(new Cloche({ home: at.home, env: at.env })),
  };
  const code = await runCli(args, io);
  const { bytes, text: stdout } = memory.stdout;
  return {
    code,
    stdout,
    bytes,
    stderr: memory.stderr.text,
    json: () => JSON.parse(stdout) as Record<string, unknown>,
  };
}
