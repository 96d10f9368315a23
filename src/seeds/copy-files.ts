import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Readable, type Writable } from "node:stream";
import { getSystemErrorName } from "node:util";
import { onAbort } from "../base/on-abort.ts";
import { guestProgram } from "../walls/guest-program.ts";
import { joined, parentOf, shown, type BytePath } from "./byte-path.ts";
import { checkAborted, type JobControl } from "./job-control.ts";
import type { ScannedEntry } from "./scanned-entries.ts";
import { SourceChanged, sourceFailure } from "./seed-errors.ts";
import { noRoomLeft } from "./seed-room.ts";
import type { TreeWriter } from "./tree-writer.ts";

/** Two keep two processors and the disk busy; more would only wait for each other. */
const COPIERS = 2;
/** About as much work as the file itself, in bytes of content. */
const COST_OF_A_FILE = 32_768;
const MAX_SAID_BYTES = 2000;

export interface CopyFilesOptions {
  /** Of the source. */
  readonly root: BytePath;
  readonly tree: TreeWriter;
  readonly control: JobControl;
  readonly onDone: (files: number) => void;
}

/** What one copier is given, folder by folder. */
interface Part {
  readonly files: ScannedEntry[];
  cost: number;
}

type Copier = ChildProcessByStdio<Writable, Readable, Readable>;

/**
 * Copies files into folders that are there, by programs that do nothing else: a thread of Node takes three times as long for a small file, and there are two
 * processors. Throws `SourceChanged` when one is not what the scan saw. Gives those that are left to the caller: files with several names.
 */
export async function copyFiles(
  files: readonly ScannedEntry[],
  { root, tree, control, onDone }: CopyFilesOptions,
): Promise<ScannedEntry[]> {
  const stop = new AbortController();
  const stopListening = onAbort(control.signal, () => stop.abort());
  const left: ScannedEntry[] = [];
  const done = new Map<Part, number>();
  try {
    const work = split(files).map(async (part) => {
      await copyPart(part, { root, tree, signal: stop.signal }, (word, number, errno) => {
        const entry = part.files[number];
        const path = joined(root, entry?.path ?? "");
        if (word === "changed") throw new SourceChanged(path);
        if (word === "unreadable") throw sourceFailure(path, systemError(errno));
        if (word === "left" && entry) left.push(entry);
        if (word === "done") onDone([...done.set(part, number).values()].reduce((a, b) => a + b, 0));
      });
    });
    // All have ended before anybody removes what they write to.
    const ends = await Promise.allSettled(work.map((one) => one.catch((error: unknown) => fail(stop, error))));
    checkAborted(control);
    for (const end of ends) if (end.status === "rejected" && end.reason !== STOPPED) throw end.reason;
    for (const { path } of files) tree.noteWritten(path);
    return left;
  } finally {
    stopListening();
  }
}

/** What a copier says that was ended because another failed. */
const STOPPED = new Error("ended");

function fail(stop: AbortController, error: unknown): never {
  const reason = stop.signal.aborted ? STOPPED : error;
  stop.abort();
  throw reason;
}

/** A folder's files stay together: each copier opens it once. */
function split(files: readonly ScannedEntry[]): Part[] {
  const parts = Array.from({ length: COPIERS }, (): Part => ({ files: [], cost: 0 }));
  let folder: BytePath | undefined;
  let part = parts[0];
  for (const file of files) {
    const parent = parentOf(file.path);
    if (parent !== folder) part = parts.reduce((least, one) => (one.cost < least.cost ? one : least));
    folder = parent;
    part?.files.push(file);
    if (part) part.cost += COST_OF_A_FILE + file.size;
  }
  return parts.filter((one) => one.files.length > 0);
}

async function copyPart(
  part: Part,
  { root, tree, signal }: { root: BytePath; tree: TreeWriter; signal: AbortSignal },
  hear: (word: string, number: number, errno: number) => void,
): Promise<void> {
  const argv = ["copy-files", ...tree.ownerArguments, shown(root), shown(tree.root)];
  const copier: Copier = spawn(guestProgram(), argv, { cwd: "/", env: {}, stdio: ["pipe", "pipe", "pipe"] });
  const stopListening = onAbort(signal, () => copier.kill("SIGKILL"));
  let said = "";
  copier.stderr.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-MAX_SAID_BYTES)));
  copier.on("error", () => undefined); // it has ended all the same
  const closed = new Promise<number | null>((end) => copier.once("close", end));
  copier.stdin.on("error", () => undefined); // one that has ended takes no more; what it said tells why
  Readable.from(records(part.files)).pipe(copier.stdin);
  let problem: Error | undefined;
  for await (const line of createInterface({ input: copier.stdout })) {
    const [, word = "", errno = "0", number = ""] = /^(\w+)(?: (\d+))?? (\d+)$/.exec(line) ?? [];
    try {
      hear(word, Number(number), Number(errno));
    } catch (error) {
      problem ??= error as Error;
    }
  }
  const code = await closed;
  stopListening();
  if (problem !== undefined) throw problem;
  if (code !== 0) throw copierFailure(said.trim());
}

function copierFailure(said: string): Error {
  if (said.includes("too little of the disk")) return noRoomLeft();
  if (/No space left on device|Disk quota exceeded/.test(said))
    return Object.assign(new Error(said), { code: "ENOSPC" });
  return new Error(said || "A program that copies files was ended");
}

const systemError = (errno: number): Error =>
  Object.assign(new Error(`error ${errno}`), { code: errno === 0 ? undefined : getSystemErrorName(-errno) });

const GATHERED_BYTES = 65_536;

function* records(files: readonly ScannedEntry[]): Generator<Buffer> {
  let gathered: Buffer[] = [];
  let size = 0;
  let folder: BytePath | undefined;
  for (const file of files) {
    const parent = parentOf(file.path);
    if (parent !== folder) gathered.push(text("D", parent));
    folder = parent;
    const record = fileRecord(file);
    gathered.push(record);
    size += record.length;
    if (size < GATHERED_BYTES) continue;
    yield Buffer.concat(gathered);
    gathered = [];
    size = 0;
  }
  yield Buffer.concat([...gathered, Buffer.from(".")]);
}

function text(kind: string, value: BytePath): Buffer {
  const bytes = Buffer.allocUnsafe(5 + value.length);
  bytes.write(kind, 0, "latin1");
  bytes.writeUInt32LE(value.length, 1);
  bytes.write(value, 5, "latin1");
  return bytes;
}

function fileRecord({ path, ino, size, ctimeMs }: ScannedEntry): Buffer {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const bytes = Buffer.allocUnsafe(29 + name.length);
  bytes.write("F", 0, "latin1");
  bytes.writeBigUInt64LE(BigInt(ino), 1);
  bytes.writeBigUInt64LE(BigInt(size), 9);
  bytes.writeDoubleLE(ctimeMs, 17);
  bytes.writeUInt32LE(name.length, 25);
  bytes.write(name, 29, "latin1");
  return bytes;
}
