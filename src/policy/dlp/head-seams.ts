import type { RequestHead } from "./detector.ts";
import { ownHeaders } from "./head-scan.ts";
import { formValues } from "./joined-values.ts";

/** So many values are put beside each other one: those that have the most to say. */
const MAX_PAIRED = 12;
/** Less than this is no half of anything. */
const LEAST = 4;
/** So much of either end of a value is put beside another one. */
const EDGE = 128;

interface Value {
  readonly place: string;
  readonly text: string;
}

/**
 * What the values of one head say together: all of them in their order, and each of them before and behind each other one. So a secret is whole in it that was cut into
 * several of them one after the other, or into two of them wherever they are. A space is between what does not belong together: it is in no token.
 */
export class HeadSeams {
  /** Two heads that have the same say the same. */
  readonly key: string;
  readonly #values: readonly Value[];

  constructor(head: RequestHead) {
    this.#values = valuesOf(head);
    // No value of a head has a line break.
    this.key = this.#values.reduce((all, { place, text }) => `${all}${place} ${text}\n`, "");
  }

  /** Those that are put beside each other. */
  get paired(): ReadonlySet<string> {
    return new Set(this.#paired.map(({ text }) => text));
  }

  /** What is to be looked at, but for pairs of values in `known`. Empty when nothing can be cut: there is one value. */
  texts(known: ReadonlySet<string>): SeamTexts {
    if (this.#values.length < 2) return new SeamTexts([]);
    const inOrder = this.#values.map(({ place, text }, at) => ({
      place,
      text: this.#values[at - 1]?.place === place ? text : ` ${text}`,
    }));
    const paired = this.#paired;
    const pairs = paired.flatMap((one) =>
      paired
        .filter((other) => other !== one && !(one.text !== other.text && known.has(one.text) && known.has(other.text)))
        .map((other) => ({ place: one.place, text: ` ${one.text.slice(-EDGE)}${other.text.slice(0, EDGE)}` })),
    );
    return new SeamTexts([...inOrder, ...pairs]);
  }

  /** What is put beside a body: the values, and all of them together. */
  get carried(): Uint8Array[] {
    const values = this.#paired.map(({ text }) => edgesOf(text));
    const all = values.length > 1 ? [edgesOf(this.#values.map(({ text }) => text).join(" "))] : [];
    return [...values, ...all].map((text) => Buffer.from(text, "latin1"));
  }

  get #paired(): readonly Value[] {
    const values = this.#values.filter(({ text }) => text.length >= LEAST);
    if (values.length <= MAX_PAIRED) return values;
    return values.toSorted((one, other) => other.text.length - one.text.length).slice(0, MAX_PAIRED);
  }
}

/** Texts one after the other, and where each is from. */
class SeamTexts {
  readonly #texts: readonly Value[];

  constructor(texts: readonly Value[]) {
    this.#texts = texts;
  }

  get bytes(): Buffer {
    return Buffer.from(
      this.#texts.reduce((all, { text }) => all + text, ""),
      "latin1",
    );
  }

  /** Where values begin, and behind which they end. */
  get borders(): ReadonlySet<number> {
    let end = 0;
    return new Set(this.#texts.flatMap(({ text }) => [end, (end += text.length)]));
  }

  /** Where the value is in which something begins. Worked out when something is found. */
  placeOf(offset: number): string {
    let end = 0;
    return this.#texts.find(({ text }) => (end += text.length) > offset)?.place ?? "header";
  }
}

const edgesOf = (text: string): string =>
  text.length <= 2 * EDGE ? text : `${text.slice(0, EDGE)} ${text.slice(-EDGE)}`;

function valuesOf({ path, query, headers }: RequestHead): Value[] {
  const values: Value[] = [];
  const add = (place: string, text: string) => {
    if (text !== "") values.push({ place, text });
  };
  for (const segment of path.split("/")) add("path", segment);
  if (query !== "")
    for (const { start, end } of formValues(Buffer.from(query, "latin1")) ?? []) add("query", query.slice(start, end));
  for (const [, value] of ownHeaders(headers)) add("header", value);
  return values;
}
