import { mkdirSync, mkdtempSync, statfsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { GitCall, HostGit } from "./host-git.ts";
import { LEAST_FREE_BYTES, MAX_OBJECTS, MAX_PACK_BYTES } from "./limits.ts";
import type { Mirror } from "./mirror.ts";

/**
 * What of git's own checks is no fault here, and what more is. All other warnings are errors.
 *
 * SECURITY: names that another system takes for `.git`, `..`, links in the place of git's own files, URLs that are options (G-86)
 */
const CHECKS = "zeroPaddedFilemode=ignore,gitattributesSymlink=error,gitignoreSymlink=error,mailmapSymlink=error";

/** How often the room on the disk is looked at while a pack comes in. */
const LOOK_EVERY_BYTES = 32 * 1024 * 1024;

/** Why a pack was not taken. */
export class PackRefused extends Error {}

/** A folder for the objects of one push. Nothing of it is in the mirror, and nobody fetches from it. */
export class Quarantine {
  readonly objects: string;
  /** Of what was unpacked, as it came. */
  packBytes = 0;
  readonly #folder: string;
  readonly #git: HostGit;
  readonly #mirror: Mirror;
  readonly #mostBytes: number;

  constructor(git: HostGit, mirror: Mirror, below: string, mostBytes = MAX_PACK_BYTES) {
    this.#mostBytes = mostBytes;
    this.#git = git;
    this.#mirror = mirror;
    mkdirSync(below, { recursive: true, mode: 0o700 });
    this.#folder = mkdtempSync(join(below, "push-"));
    this.objects = join(this.#folder, "objects");
    mkdirSync(join(this.objects, "pack"), { recursive: true, mode: 0o700 });
  }

  /** For git that sees the pushed objects and those of the mirror. */
  get both(): GitCall {
    return { repository: this.#mirror.path, objects: this.objects };
  }

  /** For git that sees the pushed objects alone. */
  get alone(): GitCall {
    return { repository: this.#mirror.path, objects: this.objects, isAlone: true };
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Unpacks what follows `first`. Throws `PackRefused`. */
  async unpack(first: Buffer, rest: Readable, signal: AbortSignal): Promise<void> {
    // SECURITY: the size of a pack, the number of its objects and the memory they take are bounded before anything of it is believed (G-87)
    const words = [
      "index-pack",
      "--stdin",
      "--fix-thin",
      `--strict=${CHECKS}`,
      `--max-input-size=${this.#mostBytes}`,
      "--threads=1",
    ];
    const running = this.#git.start(words, { ...this.both, signal });
    running.stdout.resume();
    let problem: string | undefined;
    let head: Buffer = Buffer.alloc(0);
    const refuse = (text: string) => {
      problem ??= text;
      running.kill();
    };
    const isRefused = () => problem !== undefined;
    const take = (chunk: Buffer) => {
      if (head.length < 12) {
        head = Buffer.concat([head, chunk.subarray(0, 12 - head.length)]);
        if (head.length === 12 && head.readUInt32BE(8) > MAX_OBJECTS)
          refuse(`it has ${head.readUInt32BE(8)} objects, and at most ${MAX_OBJECTS} are taken at once`);
      }
      const looksAgain =
        Math.floor(this.packBytes / LOOK_EVERY_BYTES) < Math.floor((this.packBytes + chunk.length) / LOOK_EVERY_BYTES);
      this.packBytes += chunk.length;
      if (looksAgain && !this.#hasRoom()) refuse("the disk of the host is nearly full");
      if (this.packBytes > this.#mostBytes) refuse(`it is larger than ${this.#mostBytes} bytes`);
      return !isRefused() && running.stdin.write(chunk);
    };
    try {
      if (!this.#hasRoom()) refuse("the disk of the host is nearly full");
      if (first.length > 0 && !isRefused()) take(first);
      // What is left of it is read by somebody else, so that the client hears why, and need not send more for it.
      if (!isRefused())
        for await (const chunk of rest.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
          if (!take(chunk) && running.stdin.writable) await Promise.race([drained(running.stdin), running.ended]);
          if (isRefused()) break;
        }
    } catch {
      refuse("it broke off");
    }
    running.stdin.end();
    const { code, said } = await running.ended;
    if (problem !== undefined) throw new PackRefused(problem);
    if (code !== 0) throw new PackRefused(reasonOf(said));
  }

  #hasRoom(): boolean {
    const { bavail, bsize } = statfsSync(this.#folder);
    return bavail * bsize > LEAST_FREE_BYTES;
  }
}

/** Until it takes more, or is closed. */
const drained = (stream: Writable): Promise<void> =>
  new Promise((done) => {
    const over = () => {
      stream.off("drain", over).off("close", over);
      done();
    };
    stream.on("drain", over).on("close", over);
  });

function reasonOf(said: string): string {
  if (/No space left/.test(said)) return "the disk of the host is full";
  if (/over limit|out of memory|Out of memory|mmap failed|malloc failed/i.test(said))
    return "an object of it takes more memory than is given to it";
  const lines = said
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const telling = lines.find((line) => line.startsWith("error:")) ?? lines.at(-1) ?? "git does not take it";
  return telling.replace(/^(error|fatal): /, "").slice(0, 300);
}
