import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { WantedValues } from "../../model/bottle-plan.ts";
import { failure } from "../../model/error-codes.ts";
import type { CliIo } from "../io.ts";
import { canAsk } from "../terminal/confirm.ts";

/** What a launch takes from where the user stands. Never printed, never in an argument. */
export interface GatheredValues {
  readonly variables: Readonly<Record<string, string>>;
  /** By the name of the bottle's variable. */
  readonly answers: Readonly<Record<string, string>>;
}

/** Takes the variables, and asks for the rest. SECURITY: an error names what is missing and nothing that is there (G-62) */
export async function gatherValues(io: CliIo, { variables, questions }: WantedValues): Promise<GatheredValues> {
  const taken = variables.map((name) => {
    const value = io.env[name];
    if (value === undefined) throw failure("VARIABLE_MISSING", `The variable ${name} is not set`);
    return [name, value] as const;
  });
  const [first] = questions;
  if (first && !canAsk(io)) {
    throw failure("VARIABLE_MISSING", `${first.name} is asked for on a terminal, and there is none`, {
      hint: `Start it from a terminal, or have the bottle take it from a variable: ${first.name}: \${${first.name}}`,
    });
  }
  const answers: [string, string][] = [];
  for (const { name, text } of questions) answers.push([name, await askHidden(io, `${text}: `)]);
  return { variables: Object.fromEntries(taken), answers: Object.fromEntries(answers) };
}

/** What is typed is not shown. */
async function askHidden({ stdin, stderr }: CliIo, question: string): Promise<string> {
  stderr.write(question);
  const lines = createInterface({
    input: stdin,
    output: new Writable({ write: (_chunk, _encoding, done) => done() }),
    terminal: true,
    historySize: 0,
  });
  try {
    for await (const line of lines) return line;
  } finally {
    lines.close();
    stderr.write("\n");
  }
  throw failure("CANCELLED", "Nothing was answered");
}
