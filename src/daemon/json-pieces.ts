const PIECE_CHARS = 64 * 1024;

/**
 * A value as JSON, in pieces: the same text that `JSON.stringify` makes of plain data, without ever being in memory as a whole, and with a place between any
 * two pieces where others get their turn.
 */
export function* jsonPieces(value: unknown): Generator<string, void, undefined> {
  let held = "";
  for (const token of tokensOf(value)) {
    held += token;
    if (held.length < PIECE_CHARS) continue;
    yield held;
    held = "";
  }
  if (held !== "") yield held;
}

function* tokensOf(value: unknown): Generator<string, void, undefined> {
  if (typeof value === "string") yield* stringTokens(value);
  else if (Array.isArray(value)) {
    for (const [at, one] of value.entries()) {
      yield at === 0 ? "[" : ",";
      yield* tokensOf(one);
    }
    yield value.length === 0 ? "[]" : "]";
  } else if (typeof value === "object" && value !== null) {
    let any = false;
    for (const [key, one] of Object.entries(value)) {
      if (one === undefined) continue;
      yield `${any ? "," : "{"}${JSON.stringify(key)}:`;
      any = true;
      yield* tokensOf(one);
    }
    yield any ? "}" : "{}";
  } else yield value === undefined ? "null" : JSON.stringify(value);
}

/** A cut may go through a character: each half is escaped then, and both together are that character again when they are read. */
function* stringTokens(text: string): Generator<string, void, undefined> {
  if (text.length <= PIECE_CHARS) {
    yield JSON.stringify(text);
    return;
  }
  yield '"';
  for (let at = 0; at < text.length; at += PIECE_CHARS)
    yield JSON.stringify(text.slice(at, at + PIECE_CHARS)).slice(1, -1);
  yield '"';
}
