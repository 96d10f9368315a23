import type { EnvPlan } from "../../model/bottle-plan.ts";
import { failure } from "../../model/error-codes.ts";

const TAKEN = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** `?text` is asked for, exactly `${NAME}` is taken, all else is literal. */
export function planEnv(env: Readonly<Record<string, string>>): EnvPlan {
  const literals: [string, string][] = [];
  const taken: { name: string; variable: string }[] = [];
  const asked: { name: string; text: string }[] = [];
  for (const [name, value] of Object.entries(env)) {
    const variable = TAKEN.exec(value)?.[1];
    if (variable !== undefined) taken.push({ name, variable });
    else if (value.startsWith("?")) asked.push({ name, text: value.slice(1).trim() || `Value of ${name}` });
    else literals.push([name, value]);
  }
  return { literals: Object.fromEntries(literals), taken, asked };
}

export const envNames = ({ literals, taken, asked }: EnvPlan): string[] => [
  ...Object.keys(literals),
  ...[...taken, ...asked].map(({ name }) => name),
];

/** What whoever launches has given: their variables, and answers by the name of the bottle's variable. */
export interface GivenValues {
  readonly variables: Readonly<Record<string, string>>;
  readonly answers: Readonly<Record<string, string>>;
}

export interface ResolvedEnv {
  readonly values: Readonly<Record<string, string>>;
  /** Names of those that count as secrets: what was taken or asked for. */
  readonly secret_names: readonly string[];
}

/** The variables of the agent, the same on every backend. SECURITY: the error has the name of what is missing, and no value (G-62) */
export function resolveEnv({ literals, taken, asked }: EnvPlan, given: GivenValues): ResolvedEnv {
  const secrets = [
    ...taken.map(({ name, variable }) => [name, givenValue(given.variables, variable)] as const),
    ...asked.map(({ name, text }) => {
      if (Object.hasOwn(given.answers, name)) return [name, given.answers[name] ?? ""] as const;
      throw failure("VARIABLE_MISSING", `Nobody was asked for ${name} ("${text}")`, {
        hint: "Start the run from a terminal, where it is asked for",
      });
    }),
  ];
  return {
    values: { ...literals, ...Object.fromEntries(secrets) },
    secret_names: secrets.map(([name]) => name),
  };
}

function givenValue(variables: Readonly<Record<string, string>>, variable: string): string {
  const value = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
  if (value !== undefined) return value;
  throw failure("VARIABLE_MISSING", `The variable ${variable} is not set`);
}
