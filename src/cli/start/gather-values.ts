import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { WantedValues } from "../../model/bottle-plan.ts";
import { failure } from "../../model/error-codes.ts";
import type { CliIo } from "../io.ts";
import { escapeName } from "../output/escape.ts";
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
  return { variables: Object.fromEntries(taken), answers: first ? await askHidden(io, questions) : {} };
}

/** What is typed is not shown. One reader asks all, so that nothing typed ahead is lost. */
async function askHidden(
  { stdin, stderr }: CliIo,
  questions: WantedValues["questions"],
): Promise<Readonly<Record<string, string>>> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
  const lines = reader[Symbol.asyncIterator]();
  const answers: [string, string][] = [];
  try {
    for (const { name, text } of questions) {
      stderr.write(`${escapeName(text)}: `);
      const line = await lines.next();
      stderr.write("\n");
      if (line.done === true) {
        throw failure("CANCELLED", `Nothing was answered for ${name}`, {
          hint: "Nothing was started; call it again, and answer what it asks for",
        });
      }
      answers.push([name, line.value]);
    }
  } finally {
    reader.close();
  }
  return Object.fromEntries(answers);
}
