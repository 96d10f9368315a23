#!/usr/bin/env node
import { mkdirSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath, URL } from "node:url";
import { Cleanup } from "./cleanup.mjs";
import { openInstallation } from "./installation.mjs";
import { findLeftovers } from "./leftovers.mjs";
import { describeMachine } from "./machine.mjs";
import { HELP, parseOptions, ROW_NAMES } from "./options.mjs";
import { startPeers } from "./peers/peers.mjs";
import { measureCreate } from "./rows/create.mjs";
import { measureDiff } from "./rows/diff.mjs";
import { measureDocker } from "./rows/docker.mjs";
import { measureEvents } from "./rows/events.mjs";
import { measureExec } from "./rows/exec.mjs";
import { measureFiles } from "./rows/files.mjs";
import { measureIdle } from "./rows/idle.mjs";
import { measureMcp } from "./rows/mcp.mjs";
import { measureProject } from "./rows/project.mjs";
import { measureShell } from "./rows/shell.mjs";
import { measureSnapshot } from "./rows/snapshot.mjs";
import { measureVersion } from "./rows/version.mjs";
import { measureVm } from "./rows/vm.mjs";
import { formatTable, formatVerdict } from "./table.mjs";

/**
 * What every measurement gets.
 *
 * @typedef {object} Bench
 * @property {import("./installation.mjs").Installation} installation
 * @property {readonly string[]} environments those that can be had here
 * @property {import("./peers/peers.mjs").Docker} docker
 * @property {import("./peers/peers.mjs").Runc} runc
 * @property {number} rounds
 * @property {(text: string) => void} say progress, on stderr
 */

/** @type {Record<import("./options.mjs").RowName, (bench: Bench) => Promise<import("./table.mjs").Row[]>>} */
const MEASUREMENTS = {
  create: measureCreate,
  exec: measureExec,
  docker: measureDocker,
  vm: measureVm,
  idle: measureIdle,
  project: measureProject,
  snapshot: measureSnapshot,
  diff: measureDiff,
  files: measureFiles,
  shell: measureShell,
  events: measureEvents,
  mcp: measureMcp,
  version: measureVersion,
};

const RESULTS = fileURLToPath(new URL("./results/", import.meta.url));
/** @param {string} text */
const say = (text) => process.stderr.write(`bench: ${text}\n`);

/** @param {import("./options.mjs").Options} options @param {Cleanup} cleanup */
async function runBench(options, cleanup) {
  const machine = await describeMachine();
  const installation = await openInstallation(cleanup);
  const rows = [];
  const peers = await startPeers({ installation, cleanup, needed: options.only, say });
  for (const name of options.only) {
    say(`measuring ${name}`);
    rows.push(...(await MEASUREMENTS[name]({ installation, ...peers, rounds: options.rounds, say })));
  }
  return { document: { date: new Date().toISOString(), machine, rounds: options.rounds, rows }, installation };
}

/** @param {string[]} argv */
async function main(argv) {
  const options = parseOptions(argv);
  if (options.help || options.list) {
    process.stdout.write(`${options.help ? HELP : ROW_NAMES.join("\n")}\n`);
    return;
  }
  const cleanup = new Cleanup();
  cleanup.onSignals();
  let outcome;
  let failed;
  try {
    outcome = await runBench(options, cleanup);
  } finally {
    failed = await cleanup.run();
    for (const line of failed) say(`could not clean up: ${line}`);
  }
  const { document, installation } = outcome;
  const left = [...failed, ...findLeftovers(installation)];
  mkdirSync(RESULTS, { recursive: true });
  const file = `${RESULTS}${document.date.replace(/\.\d+Z$/, "Z").replaceAll(":", "-")}.json`;
  const text = `${JSON.stringify({ ...document, left_behind: left }, null, 2)}\n`;
  writeFileSync(file, text);
  if (options.json) process.stdout.write(text);
  else {
    const { machine } = document;
    process.stdout.write(
      `\n${machine.cores} cores, ${machine.system}, Linux ${machine.kernel}, Node ${machine.node}, ${document.rounds} rounds\n\n`,
    );
    process.stdout.write(`${formatTable(document.rows)}\n\n${formatVerdict(document.rows)}\n`);
    process.stdout.write(left.length === 0 ? "Nothing was left behind.\n" : `LEFT BEHIND: ${left.join("; ")}\n`);
  }
  say(`samples are in ${file}`);
}

main(process.argv.slice(2)).catch((/** @type {unknown} */ error) => {
  const { message, hint } = /** @type {{ message?: string, hint?: string }} */ (error);
  process.stderr.write(`error: ${message ?? String(error)}\n${hint ? `hint: ${hint}\n` : ""}`);
  process.exitCode = 1;
});
