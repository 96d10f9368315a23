const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/** Keys below the second level are nobody's business here. */
const DEEPEST = 2;
const MAX_KEY = 32;
/** Of a type, however its characters are written. */
const MAX_TYPE = 160;
const MAX_OBJECT = 4096;
/** Where the counts are when they are not at the top: Anthropic's first event, and OpenAI's last one. */
const PARENTS = ["message", "response"];

/**
 * Finds the object `usage` of a JSON document that comes in pieces: at its top, or in `message` or `response`. What is in a string, or in the arguments that a model
 * gives a tool, is none. It also tells the string `type` at the top. Nothing of the document is kept but these.
 */
export class JsonUsageScan {
  readonly #found: (text: string) => void;
  readonly #typed: ((json: string) => void) | undefined;
  #depth = 0;
  #isObject: boolean[] = [];
  #keys: string[] = [];
  #expectsKey = false;
  #inString = false;
  #isEscaped = false;
  /** Of a key that is being read; null for any other string. */
  #key: string | null = null;
  /** Of the value of `type` that is being read; null for any other string. */
  #type: string | null = null;
  /** Of the object that is being read; null outside of one. */
  #object: string | null = null;
  #objectDepth = 0;

  constructor(found: (text: string) => void, typed?: (json: string) => void) {
    this.#found = found;
    this.#typed = typed;
  }

  /** What comes next is another document. */
  reset(): void {
    this.#depth = 0;
    this.#expectsKey = false;
    this.#inString = false;
    this.#isEscaped = false;
    this.#key = null;
    this.#type = null;
    this.#object = null;
  }

  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#inString) at = this.#string(bytes, at);
      else {
        this.#plain(bytes[at] ?? 0);
        at++;
      }
    }
  }

  #plain(byte: number): void {
    this.#keep(byte);
    switch (byte) {
      case QUOTE:
        this.#inString = true;
        this.#key = this.#expectsKey && this.#depth <= DEEPEST ? "" : null;
        this.#type = this.#isType() ? '"' : null;
        this.#expectsKey = false;
        break;
      case COMMA:
        this.#expectsKey = this.#isObject[this.#depth] === true;
        break;
      case OPEN_OBJECT:
      case OPEN_LIST:
        this.#open(byte === OPEN_OBJECT);
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        this.#close();
        break;
    }
  }

  #open(isObject: boolean): void {
    if (isObject && this.#object === null && this.#isUsage()) {
      this.#object = "{";
      this.#objectDepth = this.#depth;
    }
    this.#depth++;
    if (this.#depth <= DEEPEST) {
      this.#isObject[this.#depth] = isObject;
      this.#keys[this.#depth] = "";
    }
    this.#expectsKey = isObject;
  }

  #isUsage(): boolean {
    const depth = this.#depth;
    if (depth < 1 || depth > DEEPEST || this.#isObject[depth] !== true || this.#keys[depth] !== "usage") return false;
    return depth === 1 || (this.#isObject[1] === true && PARENTS.includes(this.#keys[1] ?? ""));
  }

  #isType(): boolean {
    if (!this.#typed || this.#expectsKey || this.#depth !== 1) return false;
    return this.#isObject[1] === true && this.#keys[1] === "type";
  }

  #close(): void {
    if (this.#depth > 0) this.#depth--;
    this.#expectsKey = false;
    if (this.#object === null || this.#depth > this.#objectDepth) return;
    const text = this.#object;
    this.#object = null;
    if (text.length <= MAX_OBJECT) this.#found(text);
  }

  /** Goes on in a string; gives the place after what was read of it. */
  #string(bytes: Buffer, from: number): number {
    const quote = bytes.indexOf(QUOTE, from);
    const end = quote < 0 ? bytes.length : quote;
    let slashes = 0;
    while (end - slashes > from && bytes[end - slashes - 1] === BACKSLASH) slashes++;
    // Those that go back to the beginning may have one more before them.
    const isEscaped = (slashes % 2 === 1) !== (end - slashes === from && this.#isEscaped);
    this.#text(bytes, from, quote < 0 ? end : end + 1);
    if (quote < 0) {
      this.#isEscaped = isEscaped;
      return end;
    }
    this.#isEscaped = false;
    if (!isEscaped) this.#endString();
    return end + 1;
  }

  #endString(): void {
    this.#inString = false;
    if (this.#type !== null) {
      if (this.#type.length <= MAX_TYPE) this.#typed?.(this.#type);
      this.#type = null;
    }
    if (this.#key === null) return;
    this.#keys[this.#depth] = this.#key.slice(0, -1); // without its quote
    this.#key = null;
  }

  #text(bytes: Buffer, from: number, to: number): void {
    if (this.#key !== null && this.#key.length <= MAX_KEY)
      this.#key += bytes.toString("latin1", from, Math.min(to, from + MAX_KEY + 2));
    if (this.#type !== null && this.#type.length <= MAX_TYPE)
      this.#type += bytes.toString("latin1", from, Math.min(to, from + MAX_TYPE + 1));
    if (this.#object !== null && this.#object.length <= MAX_OBJECT)
      this.#object += bytes.toString("latin1", from, Math.min(to, from + MAX_OBJECT + 1));
  }

  #keep(byte: number): void {
    if (this.#object !== null && this.#object.length <= MAX_OBJECT) this.#object += String.fromCharCode(byte);
  }
}
