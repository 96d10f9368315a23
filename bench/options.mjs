import { parseArgs } from "node:util";
import { ROW_NAMES, ROWS } from "./rows.mjs";

export const HELP = `Usage: node bench/bench.mjs [--only NAME[,NAME]…] [--rounds N] [--quick] [--list] [--json]

Measures cloche beside its peers in one run and prints each row when it has it; the samples go to bench/results/.
  --only NAME   only these rows, separated by commas; --list names them
  --rounds N    exactly N rounds, however long they take; without it, at most 20 and what fits into the seconds of the row
  --quick       at most 5 rounds: for a first look, not for a number to quote
  --list        the rows and the seconds of each, and nothing else
  --json        prints the JSON document at the end instead of the table
A goal that is missed is shown and does not change the exit code: a timing is no test.

Examples:
  make bench
  make bench ROW=exec
  make bench ROW=work,busy
  node bench/bench.mjs --only create --rounds 100`;

/**
 * @typedef {import("./rows.mjs").RowName} RowName
 * @typedef {{ help: boolean, list: boolean, json: boolean, rounds: number, timed: boolean, only: readonly RowName[] }} Options
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
  const { help, list, json } = values;
  return { help, list, json, rounds, timed: values.rounds === undefined, only: chooseRows(values.only) };
}

/** Always in the order of the table, whatever the order they were asked for in. @param {string[]} [lists] */
function chooseRows(lists) {
  if (lists === undefined) return ROW_NAMES;
  const asked = new Set(lists.flatMap((list) => list.split(",")).map((name) => name.trim()));
  const unknown = [...asked].filter((name) => !ROW_NAMES.some((one) => one === name));
  if (unknown.length > 0)
    throw Object.assign(new Error(`There is no row ${unknown.map((name) => `"${name}"`).join(", ")}`), {
      hint: `The rows are ${ROW_NAMES.join(", ")}`,
    });
  return ROW_NAMES.filter((name) => asked.has(name));
}

/** @param {readonly RowName[]} names */
export const listRows = (names) => names.map((name) => `${name.padEnd(10)}${ROWS[name].seconds} s`).join("\n");
