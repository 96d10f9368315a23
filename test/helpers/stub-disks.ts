import { spawn } from "node:child_process";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";

/** Where an archive says that it is one. */
const MARK = { at: 257, text: "ustar" };
// What an overlay notes of a file belongs to it.
const WHOLE = ["--numeric-owner", "--xattrs", "--xattrs-include=*"];

/** What is on the disks of machines, as folders. A disk that was packed for a machine is unpacked once; one that a machine has written has an archive on it. */
export class StubDisks {
  readonly #folder: string;
  readonly #unpacked = new Map<string, Promise<string>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The files of a disk that nobody writes to. */
  async files(disk: string): Promise<string> {
    const { dev, ino, size, mtimeMs } = statSync(disk);
    const name = [dev, ino, size, mtimeMs].join("-");
    const unpacked = this.#unpacked.get(name) ?? this.#unpack(disk, join(this.#folder, name));
    this.#unpacked.set(name, unpacked);
    return await unpacked;
  }

  /** Reads what `write` has left into an empty folder; nothing where a disk is fresh. */
  async read(disk: string, folder: string): Promise<void> {
    const file = openSync(disk, "r");
    try {
      const mark = Buffer.alloc(MARK.text.length);
      readSync(file, mark, 0, mark.length, MARK.at);
      if (mark.toString("latin1") !== MARK.text) return;
      await run("tar", ["--extract", "--same-permissions", ...WHOLE, "--directory", folder], [file, "ignore"]);
    } finally {
      closeSync(file);
    }
  }

  async write(disk: string, folder: string): Promise<void> {
    const file = openSync(disk, "r+");
    try {
      await run("tar", ["--create", ...WHOLE, "--directory", folder, "."], ["ignore", file]);
    } finally {
      closeSync(file);
    }
  }

  async #unpack(disk: string, folder: string): Promise<string> {
    await run("fsck.erofs", [`--extract=${folder}`, disk], ["ignore", "ignore"]);
    return folder;
  }
}

async function run(
  program: string,
  words: string[],
  [input, output]: [number | "ignore", number | "ignore"],
): Promise<void> {
  const child = spawn(program, words, { stdio: [input, output, "pipe"] });
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
  const code = await new Promise((done, fail) => child.once("close", done).once("error", fail));
  if (code !== 0) throw new Error(`${program}: ${complaint.trim().split("\n").at(-1) ?? ""}`);
}
