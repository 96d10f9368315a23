import { BrokenPkt } from "./pkt-line.ts";

export const NO_OBJECT = "0".repeat(40);
const LINE = /^([0-9a-f]{40}) ([0-9a-f]{40}) (\S+)$/;
const MAX_COMMANDS = 1000;
const MAX_REF = 1024;

/** One ref that a push is to change. */
export interface PushCommand {
  /** `NO_OBJECT` for one that is new. */
  readonly old: string;
  /** `NO_OBJECT` for one that is to go. */
  readonly new: string;
  readonly ref: string;
}

export interface PushCommands {
  readonly commands: readonly PushCommand[];
  readonly capabilities: ReadonlySet<string>;
}

/** Reads what a client says before its pack. Throws `BrokenPkt`. */
export function readPushCommands(lines: readonly Buffer[]): PushCommands {
  const commands: PushCommand[] = [];
  let capabilities: ReadonlySet<string> = new Set();
  for (const line of lines) {
    const text = line.toString("utf8").replace(/\n$/, "");
    const nul = text.indexOf("\0");
    const words = nul < 0 ? text : text.slice(0, nul);
    if (nul >= 0 && commands.length === 0) capabilities = new Set(text.slice(nul + 1).split(" "));
    // Of a shallow clone: where its history is cut. The mirror has all of it.
    if (/^shallow [0-9a-f]{40}$/.test(words)) continue;
    if (words.startsWith("push-cert")) throw new BrokenPkt("signed pushes are not taken");
    const [, old, next, ref] = LINE.exec(words) ?? [];
    if (old === undefined || next === undefined || ref === undefined)
      throw new BrokenPkt("a command of it has no meaning");
    // SECURITY: an answer has to repeat it, and it steers no terminal (G-86)
    if (/\p{Cc}/u.test(ref)) throw new BrokenPkt("the name of a ref has control characters");
    if (Buffer.byteLength(ref) > MAX_REF) throw new BrokenPkt("the name of a ref is too long");
    commands.push({ old, new: next, ref });
    if (commands.length > MAX_COMMANDS) throw new BrokenPkt(`it changes more than ${MAX_COMMANDS} refs`);
  }
  if (new Set(commands.map(({ ref }) => ref)).size !== commands.length) throw new BrokenPkt("it names a ref twice");
  return { commands, capabilities };
}

export const isDeletion = ({ new: next }: PushCommand): boolean => next === NO_OBJECT;
export const isCreation = ({ old }: PushCommand): boolean => old === NO_OBJECT;
