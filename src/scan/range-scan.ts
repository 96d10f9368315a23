import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { failure } from "../model/error-codes.ts";
import type { ScanJob } from "./scan-job.ts";
import { StreamReader } from "../base/stream-reader.ts";

/** `A..B`, as git names it: all that is reachable from B and not from A. */
export const isRange = (text: string): boolean => /^[^\s-]\S*\.\.\S*$|^\.\.\S+$/.test(text);

const START = 0x01;
const NUL = 0x00;
const COLON = 0x3a;
/** A commit or a name that is longer is cut. */
const MAX_TEXT = 8 * 1024 * 1024;
const BLANK_LINE = Buffer.from("\n\n");
const LINK_TO_REPOSITORY = "160000";

/** Every blob that the commits of a range bring in, once each, and their messages and paths. */
export async function scanRange(job: ScanJob, range: string, folder: string): Promise<void> {
  const objects = new ObjectReader(folder);
  const seen = new Set<string>();
  try {
    await eachChange(range, folder, {
      commit: (id) => scanCommit(job, objects, id),
      async blob(blob, path, commit) {
        const key = `${blob} ${path}`;
        if (seen.has(key)) return;
        seen.add(key);
        if (seen.has(blob)) job.name(path, commit);
        else await job.file(path, commit, await objects.read(blob, "blob"));
        seen.add(blob);
      },
    });
  } finally {
    objects.close();
  }
}

/** SECURITY: the object itself, because git shows a message only up to a NUL, and in another encoding if the commit says so (G-59) */
async function scanCommit(job: ScanJob, objects: ObjectReader, id: string): Promise<void> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of await objects.read(id, "commit")) {
    if (size < MAX_TEXT) parts.push(part.subarray(0, MAX_TEXT - size));
    size += part.length;
  }
  if (size > MAX_TEXT) job.skip(`commit ${id}`, `it is longer than ${MAX_TEXT} bytes, and its end was not read`);
  const text = Buffer.concat(parts);
  const border = text.indexOf(BLANK_LINE);
  const head = border < 0 ? text : text.subarray(0, border);
  const message = border < 0 ? Buffer.alloc(0) : text.subarray(border + BLANK_LINE.length);
  // Who it is by and the like comes last, so that lines are counted from the message's first.
  job.message(Buffer.concat([message, BLANK_LINE, head]), id);
}

interface Changes {
  commit(id: string): Promise<void>;
  blob(blob: string, path: string, commit: string): Promise<void>;
}

/** Reads what git tells of each commit: a mark, its id, NUL; then `:… MODE … BLOB STATUS`, NUL, its path, NUL for each file. */
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
    "--format=%x01%H%x00",
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
        // A merge is told once for each of its parents.
        if (!told.has(commit)) await changes.commit(commit);
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

/** One git that gives objects as they are asked for. */
class ObjectReader {
  readonly #git: RunningGit;
  readonly #reader: StreamReader;

  constructor(folder: string) {
    this.#git = git(folder, ["cat-file", "--batch"]);
    this.#reader = new StreamReader(this.#git.stdout);
  }

  /** To be read to its end before the next. */
  async read(id: string, type: "blob" | "commit"): Promise<AsyncIterable<Buffer>> {
    this.#git.stdin.write(`${id}\n`);
    const head = (await this.#reader.until(0x0a, 256)).toString("latin1");
    const [, found, size] = /^[0-9a-f]+ (\w+) (\d+)$/.exec(head) ?? [];
    if (found !== type) throw failure("INTERNAL", `git gives no ${type}: ${head.slice(0, 100)}`);
    return this.#content(Number(size));
  }

  close(): void {
    this.#git.stdin.end();
    this.#git.kill();
  }

  async *#content(size: number): AsyncGenerator<Buffer> {
    for (let left = size; left > 0;) {
      const part = await this.#reader.some(left);
      if (!part) throw failure("INTERNAL", "git ended within an object");
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

/** What git is told over the repository's own configuration. */
const SETTINGS = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "log.showSignature=false",
  "log.showRoot=true",
  // What `-m` means: a merge is compared with each of its parents.
  "log.diffMerges=separate",
  // Else only what is below the folder that git runs in.
  "diff.relative=false",
  // A cache beside the commits, which can tell of other parents than they do.
  "core.commitGraph=false",
];

/** SECURITY: what a repository has beside its objects runs no program, reaches no network, and hides nothing of a range (G-59) */
function git(folder: string, words: readonly string[]): RunningGit {
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(
    "git",
    ["--no-pager", "--no-replace-objects", ...SETTINGS.flatMap((one) => ["-c", one]), ...words],
    {
      cwd: folder,
      env: {
        ...process.env,
        LC_ALL: "C",
        GIT_OPTIONAL_LOCKS: "0",
        GIT_NO_LAZY_FETCH: "1",
        GIT_ALLOW_PROTOCOL: "none",
        GIT_TERMINAL_PROMPT: "0",
        // Lists that give commits other parents, or none. Where commits are really missing, git says so.
        GIT_GRAFT_FILE: "/dev/null",
        GIT_SHALLOW_FILE: "/dev/null",
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
