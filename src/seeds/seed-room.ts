import { statfsSync } from "node:fs";
import { failure } from "../model/error-codes.ts";

/** The same as layers leave, in `guest/layers/room.c`. */
const ASK_AFTER_BYTES = 1024 ** 2;
const KEPT_BYTES = 1024 ** 3;
const KEPT_NAMES = 65_536;
const KEPT_PART = 20;
/** About what a file, a folder or a link takes without its content. */
export const ROOM_OF_A_NAME = 4096;

/** What an import leaves free on the disk that the cache is on. */
export class SeedRoom {
  readonly #folder: string;
  #since = ASK_AFTER_BYTES;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Before so many bytes are written.
   * SECURITY: a project may be as large as whoever made it liked, an archive larger than it looks, and the disk is everybody's (G-15).
   */
  take(bytes: number): void {
    this.#since += bytes;
    if (this.#since < ASK_AFTER_BYTES) return;
    this.#since = 0;
    const { bavail, blocks, bsize, files, ffree } = statfsSync(this.#folder);
    const full = bavail * bsize < bytes + Math.min((blocks * bsize) / KEPT_PART, KEPT_BYTES);
    // Some file systems make names as they need them, and have no number of them.
    const crowded = files > 0 && ffree < Math.min(files / KEPT_PART, KEPT_NAMES);
    if (full || crowded) throw noRoomLeft();
  }
}

export const noRoomLeft = (): Error =>
  failure("DISK_FULL", "Cannot import the seed: no space is left where the cache is, but for the part that stays free");
