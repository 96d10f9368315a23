import { spawn } from "node:child_process";
import { constants } from "node:os";
import type { ExecResult } from "../../src/model/exec.ts";
import type { CommandStream, OpenCommandOptions, OutputChunk, RunStream } from "../../src/sdk/options.ts";

/** A real process of this host behind the interface of a sandbox's command. */
export function openLocalCommand(
  workspaceId: string,
  options: OpenCommandOptions,
): CommandStream & { readonly pid: number | undefined } {
  const argv = typeof options.command === "string" ? ["sh", "-c", options.command] : options.command;
  const child = spawn(argv[0]!, argv.slice(1), { stdio: ["pipe", "pipe", "pipe"], detached: true });
  if (!options.stdin) child.stdin.end();
  child.stdin.on("error", () => undefined);
  const queue: OutputChunk[] = [];
  const kept = { stdout: "", stderr: "" };
  let ended = false;
  let wake: () => void = () => undefined;
  for (const channel of ["stdout", "stderr"] as const) {
    child[channel].on("data", (data: Buffer) => {
      queue.push({ channel, data });
      kept[channel] += data.toString();
      wake();
    });
  }
  const result = new Promise<ExecResult>((resolve) => {
    child.on("close", (code, signal) => {
      ended = true;
      wake();
      resolve({
        workspace_id: workspaceId,
        sequence: 1,
        command: options.command,
        cwd: "/workspace",
        exit_code: code ?? 128 + constants.signals[signal!],
        ...kept,
        stdout_truncated: false,
        stderr_truncated: false,
        timed_out: false,
        duration_ms: 1,
        execution_mode: "guest_socket",
      });
    });
  });
  const close = async () => {
    if (!ended) child.kill("SIGKILL");
    await result;
  };
  return {
    pid: child.pid,
    sequence: Promise.resolve(1),
    result,
    async *output() {
      for (;;) {
        while (queue.length > 0) yield queue.shift()!;
        if (ended) return;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    write: (data) =>
      new Promise((resolve, reject) => child.stdin.write(data, (error) => (error ? reject(error) : resolve()))),
    endInput: () => child.stdin.end(),
    signal: (name) => {
      process.kill(-child.pid!, `SIG${name}`);
      return Promise.resolve();
    },
    resize: () => Promise.resolve(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The same as `run` opens it, of a workspace that began empty. */
export function openLocalRun(options: OpenCommandOptions): RunStream {
  const stream = openLocalCommand("ws-1", options);
  const workspace_seed = {
    mode: "empty",
    seed_path: null,
    origin_kind: null,
    origin_ref: null,
    left_out: null,
    included: null,
  } as const;
  return Object.assign(stream, {
    workspace_seed,
    result: stream.result.then((result) => ({ ...result, workspace_seed })),
  });
}
