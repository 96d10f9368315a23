import { failure } from "../model/error-codes.ts";
import { spawn } from "node:child_process";
import { onAbort } from "../base/on-abort.ts";

/** Held until `release`; or until this process ends, however it ends. */
export interface BuildLock {
  release(): Promise<void>;
}

const BUSY = 75;

/**
 * Takes a lock that other processes see, through `flock`: the kernel wakes the next in line, and a holder that died holds nothing.
 * The child that has the lock lives as long as its standard input is open, which is as long as this process lives.
 */
export async function takeBuildLock(
  file: string,
  options: { signal?: AbortSignal | undefined; onWait?: (() => void) | undefined },
): Promise<BuildLock> {
  const lock = await tryBuildLock(file);
  if (lock) return lock;
  options.onWait?.();
  const waited = await holdLock(file, [], options.signal);
  if (!waited) throw failure("ENVIRONMENT_BUILD_FAILED", `Cannot lock "${file}"`);
  return waited;
}

/** Nothing when somebody else has it. */
export function tryBuildLock(file: string): Promise<BuildLock | undefined> {
  return holdLock(file, ["--nonblock"]);
}

function holdLock(file: string, flags: readonly string[], signal?: AbortSignal): Promise<BuildLock | undefined> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(failure("CANCELLED", "The wait for another build was cancelled"));
      return;
    }
    const argv = [
      "--exclusive",
      "--conflict-exit-code",
      String(BUSY),
      ...flags,
      file,
      "sh",
      "-c",
      "echo locked; exec cat",
    ];
    // An own process group: Ctrl-C at a terminal must not drop the lock while the build is being undone.
    const child = spawn("flock", argv, { stdio: ["pipe", "pipe", "pipe"], detached: true });
    let errors = "";
    const ended = new Promise<void>((done) => child.once("close", () => done()));
    const stopListening = onAbort(signal, () => void child.kill("SIGKILL"));
    child.stdin.on("error", () => undefined); // the child may be gone already, and then there is nothing to release
    child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
    child.once("error", (cause) =>
      reject(
        failure("ENVIRONMENT_BUILD_FAILED", "Cannot run flock", {
          hint: "Install it with `apt-get install util-linux`",
          cause,
        }),
      ),
    );
    child.stdout.once("data", () => {
      stopListening();
      resolve({
        release: () => {
          child.stdin.end();
          return ended;
        },
      });
    });
    child.once("close", (code) => {
      stopListening();
      if (code === BUSY) resolve(undefined);
      else if (signal?.aborted) reject(failure("CANCELLED", "The wait for another build was cancelled"));
      else
        reject(
          failure("ENVIRONMENT_BUILD_FAILED", `Cannot lock "${file}": ${errors.trim() || `flock ended with ${code}`}`),
        );
    });
  });
}
