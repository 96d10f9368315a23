import { z } from "zod";
import { tellingIssue } from "./issue-path.ts";

type Issue = z.core.$ZodIssue;

/** The first thing wrong with a value, in a clause that people understand: `"mem_mib" must be at least 64`. */
export function describeIssue(schema: z.ZodType, value: unknown, error: z.ZodError): string {
  const issue = tellingIssue(error);
  return issue === undefined ? "is not valid" : describe(schema, value, issue);
}

function describe(schema: z.ZodType, root: unknown, issue: Issue): string {
  const name = issue.path.length === 0 ? "the input" : `"${issue.path.join(".")}"`;
  if (issue.code === "unrecognized_keys") {
    const allowed = keysAt(schema, issue.path);
    const where = issue.path.length === 0 ? "" : ` in ${name}`;
    return `unknown key "${issue.keys[0] ?? ""}"${where}; ${allowed.length === 0 ? "none is allowed" : `allowed are ${allowed.join(", ")}`}`;
  }
  const given = issue.path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], root);
  if (given === undefined && issue.code !== "invalid_key") return `${name} is missing`;
  switch (issue.code) {
    case "invalid_type":
      return `${name} must be ${withArticle(issue.expected)}`;
    case "invalid_union": {
      // A wrong element may be of either; what is wrong at a key, or more than a type, tells which was meant.
      const only = issue.errors.filter(
        ([first]) => first !== undefined && (first.code !== "invalid_type" || typeof first.path[0] === "string"),
      );
      const [inner] = only.length === 1 ? (only[0] ?? []) : [];
      if (inner) return describe(schema, root, { ...inner, path: [...issue.path, ...inner.path] });
      return `${name} must be ${[...new Set(issue.errors.map(alternative))].join(" or ")}`;
    }
    case "invalid_value":
      return `${name} must be one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return `${name} must ${amount("least", issue.origin, Number(issue.minimum), issue.inclusive !== false)}`;
    case "too_big":
      return `${name} must ${amount("most", issue.origin, Number(issue.maximum), issue.inclusive !== false)}`;
    case "invalid_key":
      return `${name} has a bad name: ${ownWords(issue.issues[0]?.message)}`;
    default:
      return `${name} is not valid: ${ownWords(issue.message)}`;
  }
}

const NOUNS: Readonly<Record<string, string>> = {
  array: "an array",
  int: "a whole number",
  object: "an object",
  record: "an object",
};

const withArticle = (type: string): string => NOUNS[type] ?? `a ${type}`;

/** What one branch of a union would have been: a wrong element tells that the branch is an array. */
function alternative(issues: readonly Issue[]): string {
  const [issue] = issues;
  if (issue?.code !== "invalid_type") return "something else";
  return issue.path.length === 0 ? withArticle(issue.expected) : `an array of ${issue.expected}s`;
}

function amount(bound: "least" | "most", origin: string, limit: number, inclusive: boolean): string {
  const unit = { string: "characters", array: "items" }[origin];
  if (unit !== undefined) return `have at ${bound} ${limit} ${unit}`;
  if (inclusive) return `be at ${bound} ${limit}`;
  return `be ${bound === "least" ? "more" : "less"} than ${limit}`;
}

/** The library's own sentences start with a capital letter; the ones of the schemas are clauses. */
function ownWords(message: string | undefined): string {
  return message === undefined || message.startsWith("Invalid string") ? "it has characters it may not have" : message;
}

function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: unknown = bare(schema);
  for (const key of path) at = bare(below(at, key));
  if (at instanceof z.ZodUnion) at = at.options.map(bare).find((option) => option instanceof z.ZodObject);
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

function below(schema: unknown, key: PropertyKey): unknown {
  if (schema instanceof z.ZodObject) return (schema.shape as Record<PropertyKey, unknown>)[key];
  if (schema instanceof z.ZodArray) return schema.element;
  if (schema instanceof z.ZodRecord) return schema.valueType;
  if (schema instanceof z.ZodUnion) return schema.options.map((one) => below(bare(one), key)).find(Boolean);
  return undefined;
}

function bare(schema: unknown): unknown {
  let at = schema;
  while (at instanceof z.ZodOptional || at instanceof z.ZodNullable) at = at.unwrap();
  return at;
}
