import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { messageOf } from "../../base/errors.ts";
import { onAbort } from "../../base/on-abort.ts";
import { hasOwnUser } from "../own-user.ts";

/** Of one process: hostile packs may claim objects of any size. */
const MEMORY_KIB = 4 * 1024 * 1024;
const MAX_ALLOCATION = "1g";
const MAX_TEXT = 64 * 1024 * 1024;
const MAX_SAID = 64 * 1024;
/** Nothing that git does for a gate takes longer. */
const LONGEST_MS = 15 * 60_000;

/**
 * What git is told in place of every configuration of the host's.
 *
 * SECURITY: no hook, no helper, no filter and no protocol but the one that is meant (G-84)
 */
const SETTINGS: Readonly<Record<string, string>> = {
  "core.hooksPath": "/dev/null",
  "core.fsmonitor": "false",
  "core.attributesFile": "/dev/null",
  "core.excludesFile": "/dev/null",
  "core.commitGraph": "false",
  "core.packedGitWindowSize": "32m",
  "core.packedGitLimit": "512m",
  "core.logAllRefUpdates": "false",
  "credential.helper": "",
  // SECURITY: a few small packs of large files that are alike would be compared in memory, for each fetch at once (G-172)
  "core.bigFileThreshold": "16m",
  "pack.windowMemory": "32m",
  "pack.deltaCacheSize": "16m",
  "pack.threads": "1",
  "gc.auto": "0",
  "maintenance.auto": "false",
  "protocol.allow": "never",
  "protocol.version": "2",
  "http.followRedirects": "false",
  "http.lowSpeedLimit": "1",
  "http.lowSpeedTime": "60",
  "http.postBuffer": "1048576",
  "http.sslVerify": "true",
  "transfer.credentialsInUrl": "die",
  "fetch.fsckObjects": "false",
  "fetch.unpackLimit": "1",
  "uploadpack.allowFilter": "true",
  "uploadpack.allowAnySHA1InWant": "false",
  "uploadpack.allowReachableSHA1InWant": "true",
  "push.recurseSubmodules": "no",
  "submodule.recurse": "false",
  "log.showSignature": "false",
  "log.showRoot": "true",
  "diff.relative": "false",
  "diff.renames": "false",
  "gpg.program": "/bin/false",
  "safe.directory": "*",
};

export interface GitCall {
  /** The repository; null for none. */
  readonly repository: string | null;
  /** Where objects are written, beside those of the repository. */
  readonly objects?: string | undefined;
  /** `objects` alone, without those of the repository. */
  readonly isAlone?: boolean | undefined;
  readonly config?: Readonly<Record<string, string>> | undefined;
  /** Beside those that every call has. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** What is written to it at once. */
  readonly input?: string | undefined;
  /** Whether descriptor 3 is a stream of ours. */
  readonly hasStream?: boolean | undefined;
}

export interface RunningGit {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Descriptor 3, both ways. */
  readonly stream: ChildProcess["stdio"][3];
  /** Resolves when it has ended; never rejects. */
  readonly ended: Promise<GitEnd>;
  kill(): void;
}

export interface GitEnd {
  /** Null when it was ended by a signal, or never started. */
  readonly code: number | null;
  /** The last of what it said on standard error. */
  readonly said: string;
}

export interface GitResult extends GitEnd {
  readonly stdout: Buffer;
}

/** The host's git, run by the gate: as the gate's own user, with nothing of the host's configuration, and bounded. */
export class HostGit {
  readonly #running = new Set<() => void>();
  readonly #longestMs: number;

  constructor(longestMs = LONGEST_MS) {
    this.#longestMs = longestMs;
    // What it has begun ends with the gate; where the gate is killed, by its keeper or the kernel (closed_process.c).
    process.once("exit", () => this.end());
  }

  end(): void {
    for (const kill of this.#running) kill();
  }

  /** Starts it. The caller reads its output. */
  start(words: readonly string[], call: GitCall): RunningGit {
    // SECURITY: a pack that unpacks to more memory than there is ends its git, and nothing else (G-87)
    const limited = ["-c", `ulimit -v ${MEMORY_KIB}; ulimit -c 0; exec "$0" "$@"`, "git", ...words];
    const child = spawn("/bin/sh", limited, {
      cwd: "/",
      detached: true, // a group of its own, which ends as one
      env: environmentOf(call),
      stdio: ["pipe", "pipe", "pipe", ...(call.hasStream === true ? ["pipe" as const] : [])],
    });
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // it has ended
      }
    };
    this.#running.add(kill);
    // SECURITY: nothing that a sandbox sends keeps a git of the host's busy for ever (G-87)
    const timer = setTimeout(kill, this.#longestMs);
    timer.unref();
    const stopListening = onAbort(call.signal, kill);
    let said = "";
    const [stdin, stdout, stderr, stream] = child.stdio;
    stdin.on("error", () => undefined); // it ended before it had read all
    stderr.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-MAX_SAID)));
    const ended = new Promise<GitEnd>((done) => {
      const over = (code: number | null) => {
        clearTimeout(timer);
        stopListening();
        this.#running.delete(kill);
        done({ code, said });
      };
      child.once("error", (error) => {
        said = messageOf(error);
        over(null);
      });
      child.once("close", over);
    });
    if (call.input !== undefined) stdin.end(call.input);
    return { stdin, stdout, stream, ended, kill };
  }

  /** Runs it to its end, and gives what it printed. Never rejects. */
  async run(words: readonly string[], call: GitCall): Promise<GitResult> {
    return await collect(this.start(words, { input: "", ...call }));
  }
}

/** What a git prints, to its end. SECURITY: one that prints more than there is memory for is ended (G-87) */
export async function collect(running: RunningGit, most = MAX_TEXT): Promise<GitResult> {
  const parts: Buffer[] = [];
  let size = 0;
  running.stdout.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= most) parts.push(chunk);
    else running.kill();
  });
  return { ...(await running.ended), stdout: Buffer.concat(parts) };
}

function environmentOf({ repository, objects, isAlone, config, env }: GitCall): Record<string, string> {
  const settings = Object.entries({ ...SETTINGS, ...config });
  const given: Record<string, string> = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    // SECURITY: what it is told of credentials is closed to others of the same user, and it ends with the gate (G-83)
    ...(!hasOwnUser() &&
      process.env["LD_PRELOAD"] !== undefined && {
        LD_PRELOAD: process.env["LD_PRELOAD"],
        CLOCHE_ENDS_WITH_PARENT: "1",
      }),
    HOME: "/nonexistent",
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "/bin/false",
    SSH_ASKPASS: "/bin/false",
    GIT_SSH_COMMAND: "/bin/false",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_ALLOC_LIMIT: MAX_ALLOCATION,
    GIT_ADVICE: "0",
    GIT_CONFIG_COUNT: String(settings.length),
    ...env,
  };
  for (const [at, [key, value]] of settings.entries()) {
    given[`GIT_CONFIG_KEY_${at}`] = key;
    given[`GIT_CONFIG_VALUE_${at}`] = value;
  }
  if (repository !== null) given["GIT_DIR"] = repository;
  if (objects !== undefined) {
    given["GIT_OBJECT_DIRECTORY"] = objects;
    if (isAlone !== true && repository !== null) given["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = `${repository}/objects`;
  }
  return given;
}
