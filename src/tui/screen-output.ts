import { Writable } from "node:stream";
import { UNSAFE, visible } from "../base/visible-text.ts";

/** What ink draws with: moves and erases within the picture, the cursor, pictures at once, and colours. */
const OWN = String.raw`\u001B\[(?:\d*[A-GJK]|\?25[hl]|\?2026[hl]|\d{0,3}(?:;\d{1,3}){0,4}m)`;
const ON_SCREEN = new RegExp(`${OWN}|${UNSAFE}`, "gu");

/**
 * The last look at what the terminal gets.
 * SECURITY: a place that forgot to escape shows an escape, and does no harm (G-129).
 */
export const guardPicture = (text: string): string =>
  text.replace(ON_SCREEN, (found) => (found.length > 1 || found === "\n" ? found : visible(found)));

/**
 * What ink takes for the terminal. It never says how high that is, nor that it has another size: ink would clear what the terminal has kept above. The picture is made
 * to fit before it comes here.
 */
export class ScreenOutput extends Writable {
  readonly isTTY = true;
  readonly rows = 1_000_000;
  readonly #terminal: Writable;
  readonly #columns: () => number;

  constructor(terminal: Writable, columns: () => number) {
    super({ decodeStrings: false });
    this.#terminal = terminal;
    this.#columns = columns;
  }

  get columns(): number {
    return this.#columns();
  }

  override _write(chunk: string | Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#terminal.write(guardPicture(chunk.toString()), done);
  }
}
