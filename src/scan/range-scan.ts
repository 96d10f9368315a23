import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { failure } from "../model/error-codes.ts";
import type { ScanJob } from "./scan-job.ts";
import { StreamReader } from "./stream-reader.ts";

/** `A..B`, as git names it: all that is reachable from B and not from A. */
export const isRange = (text: string): boolean => /^[^\s-]\S*\.\.\S*$|^\.\.\S+$/.test(text);

const START = 0x01;
const NUL = 0x00;
const COLON = 0x3a;
/** A message or a name that is longer is cut. */
const MAX_TEXT = 8 * 1024 * 1024;
const LINK_TO_REPOSITORY = "160000";

/** Every blob that the commits of a range bring in, once each, and their messages and paths. */
export async function scanRange(job: ScanJob, range: string, folder: string): Promise<void> {
  const blobs = new BlobReader(folder);
  const seen = new Set<string>();
  try {
    await eachChange(range, folder, {
      commit: (id, message) => job.message(message, id),
      async blob(blob, path, commit) {
        const key = `${blob} ${path}`;
        if (seen.has(key)) return;
        seen.add(key);
        if (seen.has(blob)) job.name(path, commit);
        else await job.file(path, commit, await blobs.read(blob));
        seen.add(blob);
      },
    });
  } finally {
    blobs.close();
  }
}

interface Changes {
  commit(id: string, message: string): void;
  blob(blob: string, path: string, commit: string): Promise<void>;
}

/** Reads what git tells of each commit: a mark, its id, NUL, its message, NUL, which no message has; then `:… MODE … BLOB STATUS`, NUL, its path, NUL for each file. */
async function eachChange(range: string, folder: string, changes: Changes): Promise<void> {
  const log = git(folder, [
    "log",
    "--reverse",
    "--topo-order",
    "--raw",
    "-z",
    "-m",
    "--root",
    "--no-abbrev",
    "--no-renames",
    "--no-show-signature",
    "--no-notes",
    "--encoding=UTF-8",
    "--format=%x01%H%x00%B%x00",
    "--end-of-options",
    range,
    "--",
  ]);
  const reader = new StreamReader(log.stdout);
  let commit = "";
  const told = new Set<string>();
  try {
    for (let next = await reader.byte(); next !== undefined; next = await reader.byte()) {
      if (next === START) {
        commit = (await reader.until(NUL, MAX_TEXT)).toString("latin1");
        const message = (await reader.until(NUL, MAX_TEXT)).toString("utf8");
        // A merge is told once for each of its parents.
        if (!told.has(commit)) changes.commit(commit, message);
        told.add(commit);
      } else if (next === COLON) {
        const [, mode = "", , blob = "", status = ""] = (await reader.until(NUL, 256)).toString("latin1").split(" ");
        const path = (await reader.until(NUL, MAX_TEXT)).toString("utf8");
        if (status !== "D" && mode !== LINK_TO_REPOSITORY) await changes.blob(blob, path, commit);
      }
    }
  } finally {
    log.kill();
  }
  const problem = await log.problem;
  if (problem !== undefined) throw failed(range, problem);
}

const failed = (range: string, problem: string): Error =>
  failure("INVALID_ARGUMENT", `Cannot read the range "${range}": ${problem}`, {
    hint: "Run it in a git repository, and name two commits as A..B",
  });

/** One git that gives blobs as they are asked for. */
class BlobReader {
  readonly #git: RunningGit;
  readonly #reader: StreamReader;

  constructor(folder: string) {
    this.#git = git(folder, ["cat-file", "--batch"]);
    this.#reader = new StreamReader(this.#git.stdout);
  }

  /** To be read to its end before the next. */
  async read(blob: string): Promise<AsyncIterable<Buffer>> {
    this.#git.stdin.write(`${blob}\n`);
    const head = (await this.#reader.until(0x0a, 256)).toString("latin1");
    const size = /^[0-9a-f]+ blob (\d+)$/.exec(head)?.[1];
    if (size === undefined) throw failure("INTERNAL", `git gives no blob: ${head.slice(0, 100)}`);
    return this.#content(Number(size));
  }

  close(): void {
    this.#git.stdin.end();
    this.#git.kill();
  }

  async *#content(size: number): AsyncGenerator<Buffer> {
    for (let left = size; left > 0;) {
      const part = await this.#reader.some(left);
      if (!part) throw failure("INTERNAL", "git ended within a blob");
      left -= part.length;
      yield part;
    }
    await this.#reader.byte(); // a newline of its own
  }
}

interface RunningGit {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Once it has ended: the last line of what it says is wrong. */
  readonly problem: Promise<string | undefined>;
  kill(): void;
}

/** SECURITY: what a repository has in its configuration runs no program and reaches no network (G-59) */
function git(folder: string, words: readonly string[]): RunningGit {
  const safe = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "log.showSignature=false", "log.showRoot=true"];
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(
    "git",
    ["--no-pager", "--no-replace-objects", ...safe.flatMap((one) => ["-c", one]), ...words],
    {
      cwd: folder,
      env: {
        ...process.env,
        LC_ALL: "C",
        GIT_OPTIONAL_LOCKS: "0",
        GIT_NO_LAZY_FETCH: "1",
        GIT_ALLOW_PROTOCOL: "none",
        GIT_TERMINAL_PROMPT: "0",
      },
      stdio: ["pipe", "pipe", "pipe"],
    },
  );
  let said = "";
  child.stdin.on("error", () => undefined); // it ended before it was asked
  child.stderr.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2000)));
  const problem = new Promise<string | undefined>((done) => {
    child.once("error", () => done("git is not installed"));
    child.once("close", (code) => done(code === 0 ? undefined : (said.trim().split("\n").at(-1) ?? `exit ${code}`)));
  });
  return { stdin: child.stdin, stdout: child.stdout, problem, kill: () => void child.kill() };
}
