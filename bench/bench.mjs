#!/usr/bin/env node
import { performance } from "node:perf_hooks";
import process from "node:process";
import { Cleanup } from "./cleanup.mjs";
import { openInstallation } from "./installation.mjs";
import { findLeftovers } from "./leftovers.mjs";
import { describeMachine } from "./machine.mjs";
import { HELP, listRows, parseOptions } from "./options.mjs";
import { startPeers } from "./peers/peers.mjs";
import { ResultsFile } from "./results-file.mjs";
import { ROWS } from "./rows.mjs";
import { formatHeader, formatNotes, formatRow, formatVerdict } from "./table.mjs";

/**
 * What every measurement gets.
 *
 * @typedef {object} Bench
 * @property {import("./installation.mjs").Installation} installation
 * @property {readonly string[]} environments those that can be had here
 * @property {import("./peers/peers.mjs").Docker} docker
 * @property {import("./peers/peers.mjs").Runc} runc
 * @property {number} rounds at most
 * @property {number} seconds for its rounds; no limit where the user said how many rounds
 * @property {(text: string) => void} say progress, on stderr
 */

/** @param {string} text */
const say = (text) => process.stderr.write(`bench: ${text}\n`);
/** @param {number} start */
const secondsSince = (start) => Math.round((performance.now() - start) / 1000);

/** @param {import("./options.mjs").Options} options @param {ResultsFile} results @param {Cleanup} cleanup */
async function runBench(options, results, cleanup) {
  const print = (/** @type {string} */ text) => options.json || process.stdout.write(`${text}\n`);
  const { machine } = results.document;
  const installation = await openInstallation(cleanup);
  const needed = options.only.flatMap((name) => ROWS[name].beside ?? []);
  const peers = await startPeers({ installation, cleanup, needed, say });
  print(
    `${machine.cores} cores, ${machine.system}, Linux ${machine.kernel}, Node ${machine.node}\n\n${formatHeader()}`,
  );
  for (const name of options.only) {
    say(`measuring ${name}`);
    const { measure, seconds } = ROWS[name];
    const start = performance.now();
    const given = { rounds: options.rounds, seconds: options.timed ? seconds : Infinity, say };
    for await (const row of await measure({ installation, ...peers, ...given })) {
      print(formatRow(row));
      results.add(row);
    }
    results.took(name, secondsSince(start));
  }
  return installation;
}

/** @param {string[]} argv */
async function main(argv) {
  const options = parseOptions(argv);
  if (options.help || options.list) {
    process.stdout.write(`${options.help ? HELP : listRows(options.only)}\n`);
    return;
  }
  const start = performance.now();
  const results = new ResultsFile({ machine: await describeMachine(), rounds: options.rounds });
  const cleanup = new Cleanup();
  cleanup.onSignals();
  let installation;
  let failed;
  try {
    installation = await runBench(options, results, cleanup);
  } finally {
    failed = await cleanup.run();
    for (const line of failed) say(`could not clean up: ${line}`);
  }
  const left = [...failed, ...findLeftovers(installation)];
  const text = results.finish(left);
  const { rows } = results.document;
  if (options.json) process.stdout.write(text);
  else {
    const notes = formatNotes(rows);
    process.stdout.write(`${notes && `\n${notes}\n`}\n${formatVerdict(rows)}\n`);
    process.stdout.write(left.length === 0 ? "Nothing was left behind.\n" : `LEFT BEHIND: ${left.join("; ")}\n`);
  }
  say(`took ${secondsSince(start)} s; samples are in ${results.path}`);
}

main(process.argv.slice(2)).catch((/** @type {unknown} */ error) => {
  const { message, hint } = /** @type {{ message?: string, hint?: string }} */ (error);
  process.stderr.write(`error: ${message ?? String(error)}\n${hint ? `hint: ${hint}\n` : ""}`);
  process.exitCode = 1;
});
