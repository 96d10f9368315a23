import { spawn } from "node:child_process";
import { errnoOf, messageOf } from "../../base/errors.ts";
import { failure } from "../../model/error-codes.ts";

const KEPT_BYTES = 2000;

export interface Tool {
  readonly argv: readonly [string, ...string[]];
  /** The Debian package that has it. */
  readonly package: string;
  readonly cwd?: string | undefined;
  /** Passed on as descriptor 3. */
  readonly file?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Runs a program of the host to its end; gives what it printed. Throws with its last words. */
export function runTool({ argv: [program, ...words], package: from, cwd = "/", file, signal }: Tool): Promise<string> {
  return new Promise((done, fail) => {
    const path = `${process.env["PATH"] ?? "/usr/bin:/bin"}:/usr/sbin:/sbin`;
    const child = spawn(program, words, {
      cwd,
      env: { PATH: path, LC_ALL: "C.UTF-8", HOME: "/" },
      stdio: ["ignore", "pipe", "pipe", ...(file === undefined ? [] : [file])],
      ...(signal && { signal, killSignal: "SIGKILL" }),
    });
    let output = "";
    let complaint = "";
    child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr?.on("data", (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-KEPT_BYTES)));
    const cancelled = () => failure("CANCELLED", `Running ${program} was cancelled`);
    child.once("error", (error) => {
      if (signal?.aborted) fail(cancelled());
      // Denied when a folder of PATH is closed to this user: then it was in none of the others.
      else if (["ENOENT", "EACCES"].includes(errnoOf(error) ?? "")) fail(notInstalled(program, from));
      else fail(toolFailure(program, messageOf(error)));
    });
    child.once("close", (code) => {
      if (signal?.aborted) fail(cancelled());
      else if (code === 0) done(output);
      else fail(toolFailure(program, lastLine(complaint) || `it ended with code ${String(code)}`));
    });
  });
}

export const notInstalled = (program: string, from: string): Error =>
  failure("BACKEND_UNAVAILABLE", `Cannot make a machine: ${program} is not installed`, {
    hint: `Install it: apt-get install ${from}`,
  });

function toolFailure(program: string, reason: string): Error {
  // The tool for layers says so when it is the program it was to run that is missing.
  const missing = /cannot run (\S+): No such file/.exec(reason)?.[1];
  if (missing === "mkfs.erofs") return notInstalled(missing, "erofs-utils");
  const full = /no space left on device|disk quota exceeded/i.test(reason);
  return failure(full ? "DISK_FULL" : "BACKEND_UNAVAILABLE", `Cannot make a machine: ${program}: ${reason}`);
}

const lastLine = (text: string): string => text.trim().split("\n").at(-1)?.trim().slice(0, 300) ?? "";
