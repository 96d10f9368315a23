import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath, URL } from "node:url";

const RESULTS = fileURLToPath(new URL("./results/", import.meta.url));

/**
 * The JSON document of one run. It is written after each row: a run that is interrupted keeps what it has.
 *
 * @typedef {object} Document
 * @property {string} date
 * @property {Awaited<ReturnType<typeof import("./machine.mjs").describeMachine>>} machine
 * @property {number} rounds at most
 * @property {Record<string, number>} seconds that each name of the list took, with its preparation
 * @property {import("./table.mjs").Row[]} rows
 * @property {readonly string[] | null} left_behind null as long as the run is not over
 */
export class ResultsFile {
  /** @param {Pick<Document, "machine" | "rounds">} given */
  constructor({ machine, rounds }) {
    /** @type {Document} */
    this.document = { date: new Date().toISOString(), machine, rounds, seconds: {}, rows: [], left_behind: null };
    this.path = `${RESULTS}${this.document.date.replace(/\.\d+Z$/, "Z").replaceAll(":", "-")}.json`;
  }

  /** @param {import("./table.mjs").Row} row */
  add(row) {
    this.document.rows.push(row);
    this.#write();
  }

  /** @param {string} name @param {number} seconds */
  took(name, seconds) {
    this.document.seconds[name] = seconds;
    this.#write();
  }

  /** @param {readonly string[]} leftBehind */
  finish(leftBehind) {
    this.document.left_behind = leftBehind;
    return this.#write();
  }

  #write() {
    const text = `${JSON.stringify(this.document, null, 2)}\n`;
    mkdirSync(RESULTS, { recursive: true });
    writeFileSync(this.path, text);
    return text;
  }
}
