import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { errnoOf, messageOf } from "../../base/errors.ts";
import { onAbort } from "../../base/on-abort.ts";
import { failure } from "../../model/error-codes.ts";
import { listArguments, statusArguments, versionArguments } from "./smolvm-arguments.ts";

/** The first with rootfs folders, sockets, labels and names by a flag. */
const OLDEST = "1.8.0";
const INSTALL_HINT = `Install smolvm ${OLDEST} or newer, and put it into the PATH that the daemon is started with`;
/** The code of a call that a signal has ended. */
const KILLED = 137;
const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_SHOWN = 300;

/** How long each kind of call may take before it counts as hanging. */
export interface SmolvmDeadlines {
  readonly quickMs: number;
  readonly bootMs: number;
  /** Of a call that moves files. */
  readonly copyMs: number;
}

export const SMOLVM_DEADLINES: SmolvmDeadlines = { quickMs: 20_000, bootMs: 120_000, copyMs: 600_000 };

export interface CallOptions {
  readonly deadlineMs?: number | undefined;
  readonly input?: AsyncIterable<Uint8Array> | undefined;
  readonly cwd?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface CallResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface MachineStatus {
  readonly name: string;
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The `smolvm` program. Everything it says is checked, and every call ends. */
export class Smolvm {
  readonly deadlines: SmolvmDeadlines;
  #version: string | undefined;

  constructor(deadlines: SmolvmDeadlines = SMOLVM_DEADLINES) {
    this.deadlines = deadlines;
  }

  /** Its version, when it is one that works with this driver. */
  async checkVersion(): Promise<string> {
    if (this.#version !== undefined) return this.#version;
    const { code, stdout, stderr } = await this.call(versionArguments(), {});
    const version = /^smolvm (\d+\.\d+\.\d+)\b/.exec(stdout)?.[1];
    if (code !== 0 || version === undefined) {
      throw unavailable(`"smolvm --version" printed ${shown(stdout || stderr)}`, INSTALL_HINT);
    }
    if (isOlder(version, OLDEST))
      throw unavailable(`smolvm ${version} is too old`, `Install smolvm ${OLDEST} or newer`);
    this.#version = version;
    return version;
  }

  /** Undefined when there is no such machine. */
  async status(name: string): Promise<MachineStatus | undefined> {
    const result = await this.call(statusArguments(name), {});
    if (result.code === 1 && isNotFound(result.stderr)) return undefined;
    const { stdout } = this.expectSuccess("machine status", result);
    const [status] = readStatuses([parseJson(stdout)]);
    if (!status) throw unreadable("machine status", stdout);
    return status;
  }

  async list(): Promise<MachineStatus[]> {
    const { stdout } = await this.run(listArguments());
    const all = parseJson(stdout);
    if (!Array.isArray(all)) throw unreadable("machine ls", stdout);
    return readStatuses(all);
  }

  /** A call that has to end well; gives its output. */
  async run(argv: readonly string[], options: CallOptions = {}): Promise<CallResult> {
    return this.expectSuccess(argv.slice(0, 2).join(" "), await this.call(argv, options));
  }

  expectSuccess(what: string, result: CallResult): CallResult {
    if (result.code === 0) return result;
    const reason = lastLine(result.stderr) || lastLine(result.stdout) || `it ended with code ${result.code}`;
    const full = /No space left on device/.test(result.stderr);
    throw failure(
      full ? "DISK_FULL" : "SANDBOX_START_FAILED",
      `"smolvm ${what}" failed: ${reason.slice(0, MAX_SHOWN)}`,
      {
        ...(!full && { hint: "See whether `smolvm machine ls` works by hand; the reason is also in daemon.log" }),
        details: { exit_code: result.code, output: result.stderr.slice(-2000) },
      },
    );
  }

  /** Any end is a result; a program that is missing or does not end is a failure. */
  call(argv: readonly string[], options: CallOptions): Promise<CallResult> {
    const { deadlineMs = this.deadlines.quickMs, input, cwd = "/", signal } = options;
    return new Promise((done, fail) => {
      if (signal?.aborted) {
        fail(cancelled());
        return;
      }
      const child = spawn("smolvm", argv, { cwd, stdio: [input ? "pipe" : "ignore", "pipe", "pipe"] });
      const output = { stdout: collect(child.stdout), stderr: collect(child.stderr) };
      let ended: Error | undefined;
      const end = (reason: Error) => {
        ended ??= reason;
        child.kill("SIGKILL");
        // What it started may hold its pipes open.
        child.stdout?.destroy();
        child.stderr?.destroy();
      };
      const timer = setTimeout(() => end(hanging(argv, deadlineMs)), deadlineMs);
      const stopListening = onAbort(signal, () => end(cancelled()));
      const settle = () => {
        clearTimeout(timer);
        stopListening();
      };
      child.once("error", (error) => {
        settle();
        fail(ended ?? cannotRun(error));
      });
      child.once("close", (code, killedBy) => {
        settle();
        if (ended) fail(ended);
        else {
          const stderr = `${output.stderr()}${killedBy === null ? "" : `\nit was killed by ${killedBy}`}`;
          done({ code: code ?? KILLED, stdout: output.stdout(), stderr });
        }
      });
      if (input) feed(child, input, end);
    });
  }
}

/** A program that ends without reading everything says why itself. */
function feed(child: ChildProcess, input: AsyncIterable<Uint8Array>, end: (reason: Error) => void): void {
  if (!child.stdin) return;
  pipeline(Readable.from(input), child.stdin).catch((error: unknown) => {
    if (!["EPIPE", "ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE"].includes(errnoOf(error) ?? ""))
      end(error instanceof Error ? error : new Error(String(error)));
  });
}

function collect(stream: Readable | null): () => string {
  const parts: Buffer[] = [];
  let size = 0;
  stream?.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_OUTPUT_BYTES) parts.push(chunk);
  });
  return () => Buffer.concat(parts).toString("utf8");
}

/** Undefined when it is none. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the caller says what it expected instead
  }
}

function readStatuses(values: readonly unknown[]): MachineStatus[] {
  return values.flatMap((value) => {
    const { name, state, labels } = (value ?? {}) as Partial<MachineStatus>;
    return typeof name === "string" && typeof state === "string" ? [{ name, state, labels: labels ?? {} }] : [];
  });
}

const unreadable = (what: string, text: string): Error =>
  unavailable(`"smolvm ${what}" printed ${shown(text)}`, "See whether `smolvm machine ls` works by hand");

export const isNotFound = (stderr: string): boolean => /not found|no such machine|does not exist/i.test(stderr);

const unavailable = (message: string, hint: string): Error => failure("BACKEND_UNAVAILABLE", message, { hint });
const cancelled = (): Error => failure("CANCELLED", "The caller ended the operation");

function hanging(argv: readonly string[], deadlineMs: number): Error {
  const what = `smolvm ${argv.slice(0, 2).join(" ")}`;
  return unavailable(
    `"${what}" did not end within ${deadlineMs / 1000} seconds`,
    "See whether smolvm and /dev/kvm work by hand, then try again",
  );
}

export function cannotRun(error: Error, path = process.env["PATH"] ?? ""): Error {
  // Denied also when a folder of PATH is closed to this user, and it is in none of the others.
  const denied = errnoOf(error) === "EACCES";
  const file = denied ? findOnPath(path) : undefined;
  if (file !== undefined)
    return unavailable(`This user may not run ${file}`, "Make it a program that this user may run");
  if (denied || errnoOf(error) === "ENOENT") return unavailable("smolvm is not installed", INSTALL_HINT);
  return unavailable(`Cannot run smolvm: ${messageOf(error)}`, INSTALL_HINT);
}

function findOnPath(path: string): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder, "smolvm"))
    .find((file) => existsSync(file)); // not so in a folder that is closed
}

export function isOlder(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split(".").map(Number));
  for (let at = 0; at < 3; at++) {
    const difference = (a?.[at] ?? 0) - (b?.[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** Quoted, in one line, without what a terminal would act on. */
export const shown = (text: string): string =>
  text === "" ? "nothing" : JSON.stringify(text.trim().slice(0, 100)).replaceAll("\\u0000", "");
const lastLine = (text: string): string => text.trim().split("\n").at(-1)?.trim() ?? "";
