import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { failure } from "../model/error-codes.ts";
import { guestProgram } from "../walls/guest-program.ts";
import { noRoom } from "./room.ts";

const MAX_SAID_BYTES = 2000;

export interface HostTreeOptions {
  /** The name of something at the top that is left out. */
  readonly skipTop?: string | undefined;
  /** The name that the one thing at the top gets. */
  readonly topName?: string | undefined;
  /** The most bytes of content that may be sent. */
  readonly room?: number | undefined;
}

/**
 * A tree of the host on its way into a sandbox. The guest program reads it, here on the host, and writes the records that the one in the sandbox takes: the
 * daemon passes bytes on, whatever the number of files. What is sent is a seed of the cache, which nobody changes.
 */
export class HostTree {
  readonly #argv: readonly string[];
  readonly #room: number | undefined;
  #count = 0;

  constructor(root: string, { skipTop, topName, room }: HostTreeOptions = {}) {
    this.#room = room;
    const skip = skipTop === undefined ? [] : ["--skip", skipTop];
    const as = topName === undefined ? [] : ["--as", topName];
    const most = room === undefined ? [] : ["--room", String(Math.max(1, Math.floor(room)))];
    this.#argv = ["send-tree", ...skip, ...as, ...most, root];
  }

  /** Files and links, once all has been taken. */
  get count(): number {
    return this.#count;
  }

  async *records(): AsyncGenerator<Buffer> {
    const child = spawn(guestProgram(), this.#argv, { cwd: "/", env: {}, stdio: ["ignore", "pipe", "pipe"] });
    const ended = endOf(child);
    ended.catch(() => undefined); // told below, when all has come
    try {
      // The last chunk waits for the program's word: who has taken it all may not wait for more.
      let last = Buffer.alloc(0);
      for await (const chunk of child.stdout) {
        if (last.length > 0) yield last;
        last = chunk as Buffer<ArrayBuffer>;
      }
      const said = await ended;
      // SECURITY: on this way a hole is bytes and each name a file of its own: no more than there is room for (G-15)
      if (said === "no room\n") throw noRoom("push", this.#room ?? 0);
      if (!/^\d+\n$/.test(said)) throw failure("INTERNAL", `Cannot read what was imported: ${said.trim()}`);
      this.#count = Number(said);
      yield last;
    } finally {
      child.kill("SIGKILL");
    }
  }
}

/** What it has said when it is gone. */
async function endOf(child: ChildProcess): Promise<string> {
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-MAX_SAID_BYTES)));
  await once(child, "close");
  return said;
}
