import { z } from "zod";
import { messageOf } from "../../base/errors.ts";
import { describeIssue } from "../../model/describe-issue.ts";
import type { Route } from "../../model/egress.ts";
import { failure } from "../../model/error-codes.ts";
import { SECRET_NAME } from "../../model/names.ts";
import type { AgentTask, Provider, ProviderChoice } from "../../model/provider.ts";
import { parseEgress } from "../egress/parse-egress.ts";

const text = z
  .string()
  .max(1_048_576)
  .refine((value) => !value.includes("\0"), "it has a zero byte");
const name = text.min(1);
const variable = z.string().regex(SECRET_NAME, "it is no name of a variable");
const path = text.regex(/^\/(?!.*\/\.\.?(?:\/|$))(?!\.\.?(?:\/|$))/, "it is an absolute path without '.' and '..'");
/** Below the folder of a package. */
const inside = name.regex(/^(?!\/)(?!.*(?:^|\/)\.\.?(?:\/|$))/, "it is a path inside of its package");
const word = z
  .string()
  .max(256)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]*$/, "it is a word of letters, digits and '.', '_', '+', '-'");
const packageName = z
  .string()
  .max(214)
  .regex(/^(?:@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*$/, "it is no name of a package");
/** Of the exact bytes, by a digest that nobody can match with others. */
const integrity = z.string().regex(/^sha512-[A-Za-z0-9+/]{86}==$/, "it is no digest such as npm writes: sha512-…");
const packaged = z
  .strictObject({ name: packageName, version: word, integrity, file: inside, installed_as: packageName.optional() })
  .optional();
const packages = z.strictObject({ x64: packaged, arm64: packaged }).partial();
const place = text.regex(/^(?:~?\/)(?!.*\/\.\.?(?:\/|$))/, "it is an absolute path, or one below ~/");

/** SECURITY: what a provider gives, which may be a plugin's, is checked before anything is done with it (G-63) */
const Provision = z.strictObject({
  argv: z.array(text).min(1).max(4096),
  env: z.record(variable, text),
  files: z.array(z.strictObject({ path, text, mode: z.number().int().min(0).max(0o777) })).max(256),
});
const Program = z
  .strictObject({
    command: name,
    packages,
    places: z.array(place).max(64).optional(),
    install: name.optional(),
    interpreter: z.strictObject({ command: word, packages }).nullable(),
  })
  // One that is installed has its name in a path.
  .refine(({ command, packages: some }) => Object.keys(some).length === 0 || word.safeParse(command).success, {
    message: "it is a word of letters, digits and '.', '_', '+', '-'",
    path: ["command"],
  });
const Credentials = z.array(z.strictObject({ token_ref: variable, variable })).max(64);

export const askProvision = (provider: Provider, task: AgentTask): z.infer<typeof Provision> =>
  checked(provider, Provision, () => ({
    argv: provider.argv(task),
    env: provider.env(task),
    files: provider.files(task),
  }));

export const askProgram = (provider: Provider, choice: ProviderChoice): z.infer<typeof Program> =>
  checked(provider, Program, () => provider.program(choice));

export const askCredentials = (provider: Provider, choice: ProviderChoice): z.infer<typeof Credentials> =>
  checked(provider, Credentials, () => provider.credentials(choice));

export function askRoutes(provider: Provider, choice: ProviderChoice): readonly Route[] {
  const parsed = parseEgress({ routes: attempt(provider, () => provider.routes(choice)) });
  if ("problem" in parsed) throw unusable(provider, parsed.problem);
  return parsed.egress.routes ?? [];
}

/** Throws what is wrong with what a bottle says about its agent. */
export function requireFit(provider: Provider, choice: ProviderChoice, bottle: string): void {
  const problem = attempt(provider, () => provider.check(choice));
  if (problem === undefined) return;
  throw failure("MANIFEST_INVALID", `Bottle "${bottle}" cannot use provider "${provider.name}": ${problem}`);
}

/** Throws what is wrong with the value of a credential. SECURITY: a plugin's words about it are not repeated where they have the value in them (G-63) */
export function requireToken(provider: Provider, choice: ProviderChoice, value: string): void {
  const { auth_token: ref } = choice;
  let problem: unknown;
  try {
    problem = provider.checkToken?.(choice, value);
  } catch {
    problem = "its provider cannot read it";
  }
  if (problem === undefined || ref === null) return;
  const words = typeof problem === "string" && !problem.includes(value) ? problem : "it does not fit";
  throw failure("MANIFEST_INVALID", `${provider.name} cannot use the value of ${ref}: ${words}`, {
    hint: `Give another value to ${ref}, or correct \`agent_provider\` of the bottle`,
  });
}

function checked<Schema extends z.ZodType>(provider: Provider, schema: Schema, ask: () => unknown): z.infer<Schema> {
  const given = attempt(provider, ask);
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw unusable(provider, describeIssue(schema, given, parsed.error));
}

const unusable = ({ name }: Provider, problem: string): Error =>
  failure("MANIFEST_INVALID", `Provider "${name}" gives what cannot be used: ${problem}`, {
    hint: `Correct providers/${name}.mjs in the cloche home`,
  });

function attempt<Value>({ name }: Provider, ask: () => Value): Value {
  try {
    return ask();
  } catch (error) {
    throw failure("MANIFEST_INVALID", `Provider "${name}" fails: ${messageOf(error)}`, {
      hint: `Correct providers/${name}.mjs in the cloche home`,
      cause: error,
    });
  }
}
