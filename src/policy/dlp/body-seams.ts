import type { ByteScanner } from "./byte-scanner.ts";
import type { Piece } from "./layer.ts";
import { endOf, startOf, type Match } from "./match.ts";

/** So much of either end of a body is put beside what its head says. */
const EDGE = 96;
/** Between what does not belong together: it is in no token. */
const SPACE = 0x20;

/** What begins in a value of the head and ends in the body, or the other way round. */
export interface FoundAcross {
  readonly match: Match;
  /** What was scanned. */
  readonly text: Uint8Array;
  /** Of its pieces, those that are the body's, where they are in it. */
  readonly pieces: readonly Piece[];
}

/** Where an end of the body is in the text that is scanned, and in the body. */
interface Edge {
  readonly from: number;
  readonly to: number;
  readonly at: number;
}

/** Of the first and the last value in a body: where the one ends and the other one begins. Without, that end of the body is not here. */
export interface BodyEnds {
  readonly firstEnd?: number;
  readonly lastStart?: number;
}

/** Looks for what is cut into a value of a head and an end of a body: each value is put before the one and behind the other. */
export function scanSeams(
  scanner: ByteScanner,
  values: readonly Uint8Array[],
  body: Uint8Array,
  { firstEnd = 0, lastStart = body.length }: BodyEnds,
  found: (across: FoundAcross) => void,
): void {
  const first = body.subarray(0, Math.min(EDGE, firstEnd));
  const lastAt = Math.max(lastStart, body.length - EDGE);
  const last = body.subarray(lastAt);
  const size = values.reduce((sum, value) => sum + 2 * value.length + first.length + last.length + 2, 0);
  const text = new Uint8Array(size).fill(SPACE);
  let at = 0;
  const put = (part: Uint8Array, inBody = 0): Edge => {
    text.set(part, at);
    at += part.length;
    return { from: at - part.length, to: at, at: inBody };
  };
  const edges = values.flatMap((value) => {
    put(value);
    const begun = put(first);
    at++;
    const ended = put(last, lastAt);
    put(value);
    at++;
    return [begun, ended];
  });
  scanner.scan(text, 0, text.length, (match) => {
    const [start, end] = [startOf(match), endOf(match)];
    const edge = edges.find(({ from, to }) => start < to && end > from && (start < from || end > to));
    if (edge) found({ match, text, pieces: inBody(match, edge) });
  });
}

const inBody = ({ pieces }: Match, { from, to, at }: Edge): Piece[] =>
  pieces
    .map(({ start, end }) => ({ start: Math.max(start, from) - from + at, end: Math.min(end, to) - from + at }))
    .filter(({ start, end }) => start < end);
