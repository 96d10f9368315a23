/** A JSON Schema, or what became of one. */
export type Schema = Readonly<Record<string, unknown>>;

/** What a listed schema may say: what is not here gets lost somewhere. */
const KNOWN = ["type", "description", "enum", "items", "properties", "required", "additionalProperties"];

/** What of a listed schema is missing or changed in the one that reaches a model. `strict`: where every argument has to be named, so that those that may be left out are null. */
export function lossesOf(listed: Schema, converted: Schema | undefined, strict = false, at = ""): string[] {
  if (converted === undefined) return [`${at}: dropped`];
  const lost = (what: string, one: unknown, other: unknown): string[] =>
    JSON.stringify(one) === JSON.stringify(other)
      ? []
      : [`${at}: ${what} ${JSON.stringify(one)} is ${JSON.stringify(other)}`];
  const found = bare(converted);
  const fields = (listed["properties"] ?? {}) as Record<string, Schema>;
  const kept = (found["properties"] ?? {}) as Record<string, Schema>;
  const required = (listed["required"] ?? []) as string[];
  const names = Object.keys(fields);
  return [
    ...Object.keys(listed).flatMap((key) => (KNOWN.includes(key) ? [] : [`${at}: ${key} is known to few`])),
    ...(typeof listed["type"] === "string" ? [] : [`${at}: has no single type`]),
    ...lost("type", listed["type"], String(found["type"]).toLowerCase()),
    ...lost("enum", listed["enum"], found["enum"]),
    ...lost("description", listed["description"], converted["description"] ?? found["description"]),
    ...lost("names", names.toSorted(), Object.keys(kept).toSorted()),
    ...lost("required", (strict ? names : required).toSorted(), ((found["required"] ?? []) as string[]).toSorted()),
    ...names.flatMap((name) => lossesOf(fields[name]!, kept[name], strict, `${at}.${name}`)),
    ...(strict ? names.filter((name) => !required.includes(name) && !isNullable(kept[name])) : []).map(
      (name) => `${at}.${name}: cannot be left out`,
    ),
    ...(listed["items"] === undefined
      ? []
      : lossesOf(listed["items"] as Schema, found["items"] as Schema | undefined, strict, `${at}[]`)),
    ...(strict && listed["type"] === "object" && found["additionalProperties"] !== false ? [`${at}: is open`] : []),
    ...(typeof listed["additionalProperties"] === "object" ? [`${at}: is a map`] : []),
  ];
}

/** Of something or null, the something. */
function bare(schema: Schema): Schema {
  const options = schema["anyOf"] as Schema[] | undefined;
  const real = options?.filter(({ type }) => type !== "null");
  return real?.length === 1 ? real[0]! : schema;
}

const isNullable = (schema: Schema | undefined): boolean =>
  ((schema?.["anyOf"] ?? []) as Schema[]).some(({ type }) => type === "null");

/** What Gemini's API knows of JSON Schema. */
const GEMINI = new Set(
  "type format title description enum items prefixItems minItems maxItems minimum maximum anyOf oneOf properties additionalProperties required".split(
    " ",
  ),
);

/** Keywords that the API does not know, wherever they are. */
export function unknownToGemini(schema: unknown, isNames = false): string[] {
  if (Array.isArray(schema)) return schema.flatMap((one) => unknownToGemini(one));
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => [
    ...(isNames || GEMINI.has(key) ? [] : [key]),
    ...unknownToGemini(value, key === "properties" && !isNames),
  ]);
}
