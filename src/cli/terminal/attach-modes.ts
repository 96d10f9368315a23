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
/** Another alphabet than letters, and keys that send something else: shift in, letters, ordinary keys, and no colours. */
const ORDINARY = "\x0f\x1b(B\x1b>\x1b[0m";
// eslint-disable-next-line no-control-regex -- the same
const DRIVES = /[\x0e\x0f\x1b]|\xc2[\x80-\x9f]/;
// eslint-disable-next-line no-control-regex -- the same
const REGION = /\x1b\[[0-9;]{0,20}r/;
/** Without the region that scrolls the cursor would be in another place. */
const WHOLE_SCREEN = "\x1b7\x1b[r\x1b8";

/** Watches what goes to a terminal, and knows how to bring it back. */
export class TerminalModes {
  readonly #unusual = new Map<string, "h" | "l">();
  #carry = "";
  #regions = false;
  #driven = false;

  /** Whether anything has gone by that a terminal may remember. */
  get driven(): boolean {
    return this.#driven;
  }

  watch(data: Buffer): void {
    const text = this.#carry + data.toString("latin1");
    let end = 0;
    this.#driven ||= DRIVES.test(text);
    this.#regions ||= REGION.test(text);
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
    const region = this.#regions ? WHOLE_SCREEN : "";
    this.#unusual.clear();
    this.#regions = false;
    return `${switches.join("")}${region}${ORDINARY}`;
  }

  #note(mode: string, state: "h" | "l"): void {
    const usual = USUAL.get(mode);
    if (usual === undefined) return;
    if (state === usual) this.#unusual.delete(mode);
    else this.#unusual.set(mode, usual);
  }
}
