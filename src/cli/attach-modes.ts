/** Modes that a program in the shell may have switched, and that a person's own terminal must not be left in. */
const USUALLY_OFF = ["1", "47", "1000", "1002", "1003", "1004", "1005", "1006", "1015", "1047", "1049", "2004"];
const USUALLY_ON = ["7", "25"];
const USUAL = new Map([
  ...USUALLY_OFF.map((mode) => [mode, "l"] as const),
  ...USUALLY_ON.map((mode) => [mode, "h"] as const),
]);
/** Longer than any of these sequences, so that one that came in two pieces is seen. */
const CARRY = 64;
// eslint-disable-next-line no-control-regex -- control sequences are what this is about
const SWITCH = /\x1b\[\?([0-9;]{1,60})([hl])/g;

/** Watches what goes to a terminal, and knows how to bring it back. */
export class TerminalModes {
  readonly #unusual = new Map<string, "h" | "l">();
  #carry = "";

  watch(data: Buffer): void {
    const text = this.#carry + data.toString("latin1");
    let end = 0;
    for (const match of text.matchAll(SWITCH)) {
      const [whole, modes = "", state] = match;
      end = match.index + whole.length;
      for (const mode of modes.split(";")) this.#note(mode, state === "h" ? "h" : "l");
    }
    this.#carry = text.slice(Math.max(end, text.length - CARRY));
  }

  /** What undoes the switches that are not as usual, and all colours. */
  undo(): string {
    const switches = [...this.#unusual].map(([mode, usual]) => `\x1b[?${mode}${usual}`);
    this.#unusual.clear();
    return `${switches.join("")}\x1b[0m`;
  }

  #note(mode: string, state: "h" | "l"): void {
    const usual = USUAL.get(mode);
    if (usual === undefined) return;
    if (state === usual) this.#unusual.delete(mode);
    else this.#unusual.set(mode, usual);
  }
}
