import { writeSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { type Instance, render } from "ink";
import { Screen, type Store } from "./screen.tsx";
import { ScreenOutput } from "./screen-output.ts";

export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  readonly stdout: Writable & { readonly fd?: number };
}

/** The other screen, which keeps what was on the first; lines that are too long for it end at its edge. */
const ENTER = "\u001B[?1049h\u001B[?7l\u001B[2J\u001B[H";
const LEAVE = "\u001B[?7h\u001B[?1049l\u001B[?25h";
const CLEAR = "\u001B[2J\u001B[H";
/** More pictures a second than anybody sees; fewer would be noticed as a delay. */
const MAX_FPS = 60;

/**
 * The terminal while the picture is on it. However that ends, the terminal is as it was before: its screen, its cursor and how it takes keys.
 */
export class ScreenSession {
  readonly #terminal: Terminal;
  readonly #store: Store;
  readonly #hasColour: boolean;
  readonly #onFailure: (error: unknown) => void;
  #instance: Instance | undefined;

  constructor(
    terminal: Terminal,
    options: { readonly store: Store; readonly hasColour: boolean; readonly onFailure: (error: unknown) => void },
  ) {
    this.#terminal = terminal;
    this.#store = options.store;
    this.#hasColour = options.hasColour;
    this.#onFailure = options.onFailure;
  }

  enter(): void {
    const { stdin, stdout } = this.#terminal;
    stdout.write(ENTER);
    // Before what ended the program is printed, and at the latest when it ends.
    process.on("uncaughtExceptionMonitor", this.#leaveAtOnce);
    process.on("exit", this.#leaveAtOnce);
    const output = new ScreenOutput(stdout, () => this.#store.state().cols);
    const instance = render(<Screen store={this.#store} hasColour={this.#hasColour} />, {
      stdin: stdin as NodeJS.ReadStream,
      stdout: output as unknown as NodeJS.WriteStream,
      exitOnCtrlC: false,
      patchConsole: false,
      maxFps: MAX_FPS,
    });
    this.#instance = instance;
    instance.waitUntilExit().catch(this.#onFailure);
  }

  /** After another size nothing is where it was. */
  clear(): void {
    if (this.#instance) this.#terminal.stdout.write(CLEAR);
  }

  async leave(): Promise<void> {
    const instance = this.#instance;
    if (!instance) return;
    this.#instance = undefined;
    instance.unmount();
    await instance.waitUntilExit().catch(() => undefined);
    await this.#stopReading();
    this.#stopWatching();
    await new Promise<void>((done) => this.#terminal.stdout.write(LEAVE, () => done()));
  }

  /** A key that is typed after this is for whoever reads the terminal next. */
  async #stopReading(): Promise<void> {
    const turn = () => new Promise((done) => setImmediate(done));
    await turn();
    this.#terminal.stdin.pause();
    await turn();
  }

  #stopWatching(): void {
    process.off("uncaughtExceptionMonitor", this.#leaveAtOnce);
    process.off("exit", this.#leaveAtOnce);
  }

  readonly #leaveAtOnce = (): void => {
    this.#stopWatching();
    const { stdin, stdout } = this.#terminal;
    try {
      stdin.setRawMode?.(false);
      if (stdout.fd !== undefined) writeSync(stdout.fd, LEAVE);
    } catch {
      // A terminal that is gone cannot be brought back.
    }
  };
}
