import xterm, { type IBuffer, type IBufferLine, type Terminal } from "@xterm/headless";

export interface PlainRequest {
  /** Brings the terminal into the state that `shown` finds. */
  readonly before: Uint8Array;
  readonly shown: Uint8Array;
  readonly cols: number;
  readonly rows: number;
}

export interface PlainText {
  readonly text: string;
  /** Whether the first lines did not fit into memory. */
  readonly lost: boolean;
}

/** 12 bytes each. */
const MAX_CELLS = 8_000_000;
/** Sequences that are repeated as often as their first number says. */
const REPEATED = ["@", "I", "L", "M", "P", "S", "T", "X", "Z", "b"];
const MAX_REPEAT = 1000;

/**
 * What a person would see of `shown`: the lines that it wrote or changed, or the whole screen while a full-screen program has it. Wrapped
 * lines are joined, blanks at the end of a line and empty last lines are left out.
 */
export async function renderPlain({ before, shown, cols, rows }: PlainRequest): Promise<PlainText> {
  const scrollback = Math.min(shown.length, Math.max(0, Math.floor(MAX_CELLS / cols) - rows));
  // Lines that are gone from the screen before are not asked for: they would only take the place of those that are.
  const terminal = new xterm.Terminal({ cols, rows, scrollback: 0, allowProposedApi: true, logLevel: "off" });
  try {
    limitRepeats(terminal);
    await write(terminal, before);
    terminal.options.scrollback = scrollback;
    const { normal } = terminal.buffer;
    const mark = terminal.registerMarker(0);
    const line = normal.baseY + normal.cursorY;
    const above = texts(normal, normal.baseY, line);
    await write(terminal, shown);
    const { active } = terminal.buffer;
    if (active.type === "alternate") return { text: toText(active, 0), lost: false };
    const isFull = normal.length >= scrollback + rows && scrollback < shown.length;
    const isGone = mark === undefined || mark.isDisposed;
    if (isGone && isFull) return { text: toText(normal, 0), lost: true };
    const now = isGone ? line : mark.line;
    const top = now - above.length;
    const changed = above.findIndex((text, index) => lineText(normal, top + index) !== text);
    return { text: toText(normal, Math.max(0, changed < 0 ? now : top + changed)), lost: false };
  } finally {
    terminal.dispose();
  }
}

// SECURITY: a few bytes must not keep the emulator busy for minutes or have it allocate gigabytes (G-10).
function limitRepeats(terminal: Terminal): void {
  for (const final of REPEATED) {
    terminal.parser.registerCsiHandler({ final }, ([count]) => typeof count === "number" && count > MAX_REPEAT);
  }
}

const write = (terminal: Terminal, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve) => terminal.write(bytes, resolve));

const lineText = (buffer: IBuffer, y: number): string | undefined => buffer.getLine(y)?.translateToString(true);

const texts = (buffer: IBuffer, from: number, to: number): (string | undefined)[] =>
  Array.from({ length: to - from }, (_, index) => lineText(buffer, from + index));

function toText(buffer: IBuffer, from: number): string {
  const lines: string[] = [];
  for (let y = from; y < buffer.length; y++) {
    const line = buffer.getLine(y);
    if (!line) break;
    const next = buffer.getLine(y + 1);
    const text = next?.isWrapped ? fullLine(line, next) : line.translateToString(true);
    if (line.isWrapped && lines.length > 0) lines.push((lines.pop() ?? "") + text);
    else lines.push(text);
  }
  return lines
    .map((line) => line.replace(/ +$/, ""))
    .join("\n")
    .replace(/\n+$/, "");
}

/** A line that goes on in the next one. A wide character that did not fit any more has left its last cell empty. */
function fullLine(line: IBufferLine, next: IBufferLine): string {
  const hasGap = next.getCell(0)?.getWidth() === 2 && line.getCell(line.length - 1)?.getCode() === 0;
  return line.translateToString(false, 0, hasGap ? line.length - 1 : line.length);
}
