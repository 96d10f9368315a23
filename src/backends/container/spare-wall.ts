import { startRole } from "../../base/starter.ts";

/** For the first command of the sandbox that has taken the last one: they would share the processors. */
const PAUSE_MS = 2;

/**
 * What of a wall is the same for every sandbox, made ahead of time: namespaces, ids, a network and devices. The starter holds it, at most one, and gives it to the next
 * launcher. It consists of descriptors only, so it ends with the starter, and the starter with the daemon.
 */
export class SpareWall {
  readonly #words: () => readonly string[];
  #isDue = false;

  constructor(words: () => readonly string[]) {
    this.#words = words;
  }

  /** Without one a launcher makes all by itself, and says what is wrong if it cannot: so nobody waits for this, or is told of a failure. */
  renewSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => {
      this.#isDue = false;
      this.#make().catch(() => undefined);
    }, PAUSE_MS).unref();
  }

  async #make(): Promise<void> {
    await startRole(["spare-wall", ...this.#words()], { onStatus: () => undefined, isBackground: true });
  }
}
