import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import process from "node:process";
import { median, p99 } from "../statistics.mjs";

const GOAL_MB = 100;
const KNOWN_VALUES = 10;
const SIZES = [65_536, 1_048_576];
const WARM_UP_MB = 32;

/** Body bytes that the DLP engine reads in a second of its own processor time, as a gate hands them over. @param {import("../bench.mjs").Bench} bench @returns {Promise<import("../table.mjs").Row[]>} */
export async function measureDlp({ rounds }) {
  // When it runs: the list of rows is asked for before anything is built.
  const { createDetector } = await import("../../dist/policy/dlp/create-detector.js");
  const known = Array.from({ length: KNOWN_VALUES }, (_, at) => ({
    detector: /** @type {const} */ ("known_secrets"),
    name: `SECRET_${at}`,
    value: randomBytes(30).toString("base64url"),
  }));
  const scan = createDetector({ known }).scope();
  return SIZES.map((size) => {
    const body = jsonBody(size);
    const samples = [];
    for (let read = 0; read < WARM_UP_MB * 1e6; read += size) scanOnce(scan, body);
    for (let round = 0; round < Math.max(5, rounds); round++) {
      const count = Math.ceil(4e6 / size);
      const before = process.cpuUsage();
      for (let at = 0; at < count; at++) scanOnce(scan, body);
      const { user, system } = process.cpuUsage(before);
      samples.push((count * size) / (user + system));
    }
    return {
      what: `DLP of a JSON body of ${size / 1024} KiB`,
      unit: "MB/s",
      ours_p50: median(samples),
      ours_p99: p99(samples),
      peer: "-",
      peer_p50: null,
      ratio: null,
      goal: `≥ ${GOAL_MB} MB/s`,
      holds: median(samples) >= GOAL_MB,
      note: `${KNOWN_VALUES} known values and all rules, by processor time of one thread`,
      details: { samples },
    };
  });
}

/** A conversation with code in it, as agents send it. @param {number} size */
function jsonBody(size) {
  const code = scanOnce.toString() + jsonBody.toString() + measureDlp.toString();
  const messages = Array.from({ length: Math.ceil(size / code.length) }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: [{ type: "text", text: `${at}\n${code}` }],
  }));
  return Buffer.from(JSON.stringify({ model: "m", messages })).subarray(0, size);
}

/** @param {import("../../dist/policy/dlp/detector.js").Scan} scan @param {Buffer} body */
function scanOnce(scan, body) {
  const one = scan.body({ mode: "find" });
  for (let at = 0; at < body.length; at += 65_536) one.push(body.subarray(at, at + 65_536));
  one.end();
  if (one.findings.length > 0) throw new Error("the body of the benchmark is not clean");
}
