import { z } from "zod";
import { FULL_ARGUMENTS } from "./profiles.ts";
import { ARGUMENTS } from "./arguments.ts";
import { listedInput } from "./flat-arguments.ts";
import type { Tool } from "./tool.ts";

export type JsonSchema = Record<string, unknown> & { type: "object" };

/** A tool's arguments as zod checks them: those of `FULL_ARGUMENTS` only where all is offered. */
export function inputOf(tool: Tool, full: boolean): z.ZodObject {
  if (full) return tool.input;
  const shape = Object.entries(tool.input.shape).filter(([name]) => !FULL_ARGUMENTS.includes(name));
  return z.strictObject(Object.fromEntries(shape));
}

/** The same as JSON Schema in its flat form, with a word about each argument that needs one. */
export function inputSchema(input: z.ZodObject): JsonSchema {
  const schema = generate(listedInput(input), "input");
  const properties = schema["properties"] as Record<string, Record<string, unknown>>;
  for (const [name, property] of Object.entries(properties)) {
    const description = ARGUMENTS[name];
    if (description !== undefined && property["description"] === undefined) property["description"] = description;
  }
  return schema;
}

/** What a result has at least: fields may be added, so nothing is closed, and what is in a field shows in the result. */
export function outputSchema(output: z.ZodObject): JsonSchema {
  const schema = generate(output, "output");
  const fields = Object.entries(schema["properties"] as Record<string, Record<string, unknown>>);
  const shallow = ({ type, items }: Record<string, unknown>) =>
    items === undefined ? { type } : { type, items: { type: (items as { type?: unknown }).type } };
  return { ...schema, properties: Object.fromEntries(fields.map(([name, field]) => [name, shallow(field)])) };
}

function generate(schema: z.ZodObject, io: "input" | "output"): JsonSchema {
  const made = z.toJSONSchema(schema, { io, unrepresentable: "any", reused: "inline" }) as Record<string, unknown>;
  delete made["$schema"];
  return simplify(made, io === "output") as JsonSchema;
}

/** Limits that no honest call comes near. A call that does is refused all the same, and told why. */
const LIMITS: ReadonlySet<string> = new Set([
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "propertyNames",
  "pattern",
]);
/** Of results, which are open: fields may be added, and those of the wire's objects are always there. */
const CLOSED: ReadonlySet<string> = new Set(["additionalProperties", "required"]);

/** Every byte of a schema is read by a model in every conversation: what says nothing goes. A property may have any name, so names are left alone. */
function simplify(node: unknown, open: boolean, isProperties = false): unknown {
  if (Array.isArray(node)) return node.map((one) => simplify(one, open));
  if (typeof node !== "object" || node === null) return node;
  const kept = Object.entries(node).filter(([key]) => isProperties || !(LIMITS.has(key) || (open && CLOSED.has(key))));
  const simple = kept.map(
    ([key, value]) => [key, simplify(value, open, !isProperties && key === "properties")] as const,
  );
  return isProperties ? Object.fromEntries(simple) : shorten(Object.fromEntries(simple));
}

/** The same in fewer words: something or null needs no two schemas. A constant is a list of one, as models that know no constant have it. */
function shorten({ anyOf, const: only, ...node }: Record<string, unknown>): Record<string, unknown> {
  if (typeof only === "string") node["enum"] = [only];
  if (!Array.isArray(anyOf)) return node;
  const [one, other] = anyOf as Record<string, unknown>[];
  const isNullable = anyOf.length === 2 && other?.["type"] === "null" && typeof one?.["type"] === "string";
  return isNullable ? { ...one, type: [one["type"], "null"], ...node } : { anyOf, ...node };
}
