import { z } from "zod";
import { describeIssue } from "../model/describe-issue.ts";
import { failure } from "../model/error-codes.ts";
import { Command } from "../model/exec.ts";
import { Readiness } from "../model/service.ts";

/**
 * Arguments are listed in one flat form: each has one type, a list has elements of one type, an object names all it can have. Clients turn a schema into
 * their model's own, most of which know no choice between types, no map and no constant: what they do not know they drop or refuse. The wire's own forms
 * are taken all the same. Null is as absent, because a model that has to name every argument says so which it leaves out.
 */
interface FlatForm {
  /** The type that is listed under the wire's name; null: nothing is, only what is beside it. */
  readonly own: z.ZodType | null;
  /** A list of such pairs is taken for a map. */
  readonly pairs?: string;
  /** What is listed beside it, and how the wire says it. No more than one of all these is given. */
  readonly beside?: Readonly<Record<string, { schema: z.ZodType; toWire: (value: unknown) => unknown }>>;
}

const [, argv] = Command.options;
const [file, tcp, http] = Readiness.options;
const pairs = (form: string): FlatForm => ({ own: z.array(z.string()), pairs: form });

const FORMS: Readonly<Record<string, FlatForm>> = {
  command: { own: z.string(), beside: { argv: { schema: argv, toWire: (words) => words } } },
  env: pairs("NAME=VALUE"),
  labels: pairs("KEY=VALUE"),
  secret_env: pairs("NAME=VARIABLE"),
  readiness: {
    own: null,
    beside: {
      ready_file: { schema: file.shape.path, toWire: (path) => ({ type: "file", path }) },
      ready_tcp: { schema: tcp.shape.port, toWire: (port) => ({ type: "tcp", port }) },
      ready_http: { schema: http.shape.url, toWire: (url) => ({ type: "http", url }) },
      ready_command: { schema: z.string().min(1), toWire: (command) => ({ type: "command", command }) },
    },
  },
  secrets: {
    own: z.array(z.strictObject({ name: z.string(), value: z.string().optional(), file_path: z.string().optional() })),
  },
};

type Given = Record<string, unknown>;
type Shape = Readonly<Record<string, z.ZodType>>;

/** The arguments as they are listed. */
export function listedInput(input: z.ZodObject): z.ZodObject {
  const listed = Object.entries(input.shape as Shape).flatMap(([name, wire]): [string, z.ZodType][] => {
    const { own, beside = {} } = FORMS[name] ?? { own: withoutNull(wire) };
    const others = Object.entries(beside);
    const one = own && (wire instanceof z.ZodOptional || others.length > 0 ? own.optional() : own);
    return [...(one ? [[name, one] as [string, z.ZodType]] : []), ...others.map(optional)];
  });
  return z.strictObject(Object.fromEntries(listed));
}

/** Checks a call's arguments, in either form, and gives them as the wire has them. */
export function takeArguments(tool: string, input: z.ZodObject, args: unknown): unknown {
  try {
    const shape = input.shape as Shape;
    const flat = Object.keys(FORMS).filter((name) => name in shape);
    const beside = flat.flatMap((name) => Object.entries(FORMS[name]?.beside ?? {}).map(optional));
    const orOther = flat.filter((name) => FORMS[name]?.beside).map((name) => [name, shape[name]?.optional()] as const);
    const given = spell(dropNulls(args ?? {}), shape);
    const taken = z.strictObject({ ...shape, ...Object.fromEntries([...orOther, ...beside]) });
    const parsed = taken.safeParse(given);
    if (!parsed.success) throw new BadArgument(describeIssue(listedInput(input), given, parsed.error));
    const isNeeded = (name: string) => !(shape[name] instanceof z.ZodOptional);
    return flat.reduce<Given>((taken, name) => choose(taken, name, isNeeded(name)), parsed.data);
  } catch (error) {
    throw error instanceof BadArgument ? failure("INVALID_ARGUMENT", `Cannot call ${tool}: ${error.message}`) : error;
  }
}

class BadArgument extends Error {}

const optional = ([name, { schema }]: [string, { schema: z.ZodType }]): [string, z.ZodType] => [
  name,
  schema.optional(),
];

/** Other spellings of a value: a list of pairs for a map, and an empty text for the null that takes something away. */
function spell(given: unknown, shape: Shape): unknown {
  if (!isObject(given)) return given;
  const spelled = Object.entries(given).map(([name, value]) => {
    const form = name in shape ? FORMS[name]?.pairs : undefined;
    if (form !== undefined && Array.isArray(value)) return [name, mapOf(value, name, form)] as const;
    return [name, value === "" && takesNull(shape[name]) ? null : value] as const;
  });
  return Object.fromEntries(spelled);
}

function mapOf(list: readonly unknown[], name: string, form: string): Record<string, string> {
  const entries = list.map((one): [string, string] => {
    if (typeof one !== "string") throw new BadArgument(`"${name}" must be an array of strings`);
    const at = one.indexOf("=");
    if (at === -1 && name === "secret_env") return [one, one]; // as on the command line
    if (at === -1) throw new BadArgument(`"${name}" has "${one.slice(0, 100)}", and the form is ${form}`);
    return [one.slice(0, at), one.slice(at + 1)];
  });
  return Object.fromEntries(entries);
}

/** Puts what was given beside an argument in its place. */
function choose(given: Given, name: string, isNeeded: boolean): Given {
  const ways = FORMS[name]?.beside;
  if (ways === undefined) return given;
  const [way, other] = [name, ...Object.keys(ways)].filter((one) => given[one] !== undefined);
  if (way !== undefined && other !== undefined) throw new BadArgument(`"${way}" and "${other}" exclude each other`);
  if (way === undefined && isNeeded) throw new BadArgument(`"${name}" is missing`);
  const rest = Object.fromEntries(Object.entries(given).filter(([key]) => !(key in ways)));
  return way === undefined || way === name ? rest : { ...rest, [name]: ways[way]?.toWire(given[way]) };
}

function dropNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropNulls);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(kept.map(([key, one]) => [key, dropNulls(one)]));
}

const isObject = (value: unknown): value is Given =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const takesNull = (wire: z.ZodType | undefined): boolean =>
  wire instanceof z.ZodOptional && wire.unwrap() instanceof z.ZodNullable;

function withoutNull(wire: z.ZodType): z.ZodType {
  if (!takesNull(wire)) return wire;
  const bare = ((wire as z.ZodOptional).unwrap() as z.ZodNullable).unwrap() as z.ZodType;
  return wire.description === undefined ? bare.optional() : bare.optional().describe(wire.description);
}
