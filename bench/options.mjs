import { parseArgs } from "node:util";

export const HELP = `Usage: node bench/bench.mjs [--rounds N] [--quick] [--only NAME]… [--list] [--json]

Measures cloche beside its peers in one run and prints a table; the samples go to bench/results/.
  --rounds N    rounds of the slow measurements (default 20); the quick ones are repeated in proportion
  --quick       5 rounds: for a first look, not for a number to quote
  --only NAME   only these measurements; --list names them
  --list        what is measured, and nothing else
  --json        prints the JSON document instead of the table
A goal that is missed is shown and does not change the exit code: a timing is no test.`;

export const ROW_NAMES = /** @type {const} */ ([
  "create",
  "exec",
  "docker",
  "vm",
  "idle",
  "project",
  "snapshot",
  "diff",
  "files",
  "shell",
  "events",
  "mcp",
  "version",
]);

/**
 * @typedef {(typeof ROW_NAMES)[number]} RowName
 * @typedef {{ help: boolean, list: boolean, json: boolean, rounds: number, only: readonly RowName[] }} Options
 */

/** @param {readonly string[]} argv @returns {Options} */
export function parseOptions(argv) {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      help: { type: "boolean", short: "h", default: false },
      list: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      rounds: { type: "string" },
      only: { type: "string", multiple: true },
    },
  });
  const rounds = values.rounds === undefined ? (values.quick ? 5 : 20) : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 1000)
    throw new Error("--rounds takes a number from 1 to 1000");
  const only = (values.only ?? [...ROW_NAMES]).map((name) => {
    const known = ROW_NAMES.find((one) => one === name);
    if (known === undefined) throw new Error(`There is no measurement "${name}"; use one of: ${ROW_NAMES.join(", ")}`);
    return known;
  });
  return { help: values.help, list: values.list, json: values.json, rounds, only };
}
