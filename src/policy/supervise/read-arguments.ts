/** What is wrong with the arguments of a tool, in words for whoever called it. */
export class BadArguments extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** An object with no other keys than these. Without a schema library: the gate has none, and is small for that. */
export function readObject(value: unknown, where: string, keys: readonly string[], hint: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new BadArguments(`"${where}" is no object`, hint);
  const strange = Object.keys(value).find((key) => !keys.includes(key));
  if (strange !== undefined)
    throw new BadArguments(
      `"${where}" has ${JSON.stringify(strange.slice(0, 64))}, and may have ${keys.join(", ")}`,
      hint,
    );
  // Without what every object has.
  return Object.assign(Object.create(null) as Record<string, unknown>, value);
}

/** Undefined for what is not given, or is null. */
export function readList<Item>(
  value: unknown,
  where: string,
  most: number,
  read: (item: unknown, where: string) => Item,
): Item[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw new BadArguments(`"${where}" is no list`, `Give a list of at most ${most}`);
  if (value.length > most)
    throw new BadArguments(
      `"${where}" has ${value.length} entries, and may have ${most}`,
      "Ask for less, or several times",
    );
  return value.map((item: unknown, index) => read(item, `${where}.${index}`));
}

export function readText(value: unknown, where: string, most: number): string {
  if (typeof value !== "string" || value.trim() === "")
    throw new BadArguments(`"${where}" is no text`, `Give "${where}" as a text that is not empty`);
  if (value.length > most)
    throw new BadArguments(`"${where}" has ${value.length} characters, and may have ${most}`, "Say it in fewer words");
  return value;
}
