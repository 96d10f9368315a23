import { z } from "zod";
import { FULL_ARGUMENTS } from "./profiles.ts";
import { ARGUMENTS } from "./arguments.ts";
import type { Tool } from "./tool.ts";

export type JsonSchema = Record<string, unknown> & { type: "object" };

/** A tool's arguments as zod checks them: those of `FULL_ARGUMENTS` only where all is offered. */
export function inputOf(tool: Tool, full: boolean): z.ZodObject {
  if (full) return tool.input;
  const shape = Object.entries(tool.input.shape).filter(([name]) => !FULL_ARGUMENTS.includes(name));
  return z.strictObject(Object.fromEntries(shape));
}

/** The same as JSON Schema, with a word about each argument that needs one. */
export function inputSchema(input: z.ZodObject): JsonSchema {
  const schema = generate(input, "input");
  const properties = schema["properties"] as Record<string, Record<string, unknown>>;
  for (const [name, property] of Object.entries(properties)) {
    const description = ARGUMENTS[name];
    if (description !== undefined && property["description"] === undefined) property["description"] = description;
  }
  return schema;
}

/** What a result has at least: fields may be added, so nothing is closed, and lists say no more than that they are lists. */
export const outputSchema = (output: z.ZodObject): JsonSchema => generate(output, "output");

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

/** The same in fewer words: values say their type, and something or null needs no two schemas. */
function shorten({ anyOf, ...node }: Record<string, unknown>): Record<string, unknown> {
  if ("enum" in node || "const" in node) delete node["type"];
  if (!Array.isArray(anyOf)) return node;
  const [one, other] = anyOf as Record<string, unknown>[];
  const isNullable = anyOf.length === 2 && other?.["type"] === "null" && typeof one?.["type"] === "string";
  return isNullable ? { ...one, type: [one["type"], "null"], ...node } : { anyOf, ...node };
}
