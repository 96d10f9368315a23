import { Buffer } from "node:buffer";
import { execFileSync } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { URL, fileURLToPath } from "node:url";

const OF_EACH_RULE = 20;
const KNOWN_VALUES = 200;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** @param {string} text */
const hex = (text) => Buffer.from(text).toString("hex");
/** @param {string} text @param {(one: string) => string} write */
const each = (text, write) => Array.from(text).map(write).join("");
/** How a secret is written. @type {Readonly<Record<string, (text: string) => string>>} */
const VIEWS = {
  "as it is": (text) => text,
  "in JSON": (text) => JSON.stringify({ a: `first\n${text}\nlast` }),
  "in base64": (text) => Buffer.from(`x=${text};`).toString("base64"),
  "in base64url": (text) => Buffer.from(text).toString("base64url"),
  "in hex": hex,
  "with percent signs": (text) => each(text, (one) => `%${hex(one)}`),
  "in \\u escapes": (text) => each(text, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`),
  reversed: (text) => Array.from(text).reverse().join(""),
  "with spaces between": (text) => Array.from(text).join(" "),
  "in base64 of base64": (text) => Buffer.from(Buffer.from(text).toString("base64")).toString("base64"),
};

/**
 * @typedef {import("../table.mjs").Row} Row
 * @typedef {import("../../dist/policy/dlp/detector.js").Scan} Scan
 * @typedef {import("../../dist/policy/dlp/detector.js").Rule} Rule
 */

/**
 * What the detectors find of secrets that are made here at random, of the form of every rule and as values that are known, in each view; and what they find where
 * nothing is: in the files of this repository, and in the packages that it uses.
 *
 * @param {Pick<import("../bench.mjs").Bench, "seconds" | "say">} bench
 */
export async function* measureDetection({ seconds, say }) {
  const { createDetector } = await import("../../dist/policy/dlp/create-detector.js");
  const { TOKEN_RULES } = await import("../../dist/policy/dlp/rules/token-rules.js");
  const scan = createDetector({ known: [] }).scope();
  const texts = TOKEN_RULES.flatMap((rule) =>
    Array.from({ length: OF_EACH_RULE }, () => ({ id: rule.id, text: randomLike(rule) })),
  );
  for (const [view, write] of Object.entries(VIEWS)) {
    const missed = texts.filter(({ text }) => !isFound(scan, write(text)));
    const what = `detected of ${texts.length} random secrets of ${TOKEN_RULES.length} rules, ${view}`;
    const rules = [...new Set(missed.map(({ id }) => id))];
    yield rowOf({ what, total: texts.length, missed: missed.length, goal: view === "as it is" ? 99 : null, rules });
  }
  const values = Array.from({ length: KNOWN_VALUES }, () => randomBytes(30).toString("base64url"));
  const own = createDetector({
    known: values.map((value, at) => ({
      detector: /** @type {const} */ ("known_secrets"),
      name: `VALUE_${at}`,
      value,
    })),
  }).scope();
  let missed = 0;
  for (const write of Object.values(VIEWS)) missed += values.filter((value) => !isFound(own, write(value))).length;
  const total = values.length * Object.keys(VIEWS).length;
  const views = Object.keys(VIEWS).length;
  yield rowOf({
    what: `detected of ${KNOWN_VALUES} known values in ${views} views`,
    total,
    missed,
    goal: 100,
    rules: [],
  });
  const tracked = execFileSync("git", ["-C", ROOT, "ls-files", "-z"], { encoding: "utf8" }).split("\0").slice(0, -1);
  say("looking for false alarms");
  yield falseAlarms(scan, "this repository", tracked, seconds / 2);
  const packages = readdirSync(join(ROOT, "node_modules"), { recursive: true, encoding: "utf8" }).map((name) =>
    join("node_modules", name),
  );
  yield falseAlarms(scan, "node_modules", packages, seconds / 2);
}

/** @param {Scan} scan @param {string} text */
const isFound = (scan, text) =>
  scan
    .file("", Buffer.from(`const before = 1;\n${text}\nconst after = 2;\n`))
    .some(({ severity }) => severity === "high");

/**
 * The vector of a rule with every character that may be another one drawn anew from those of its kind, so that its form is the same and its value is not.
 *
 * @param {Rule} rule
 */
function randomLike(rule) {
  let text = rule.hit();
  const first = rule.pattern.exec(text);
  const value = first?.groups?.["value"] ?? first?.[0] ?? "";
  const start = text.indexOf(value);
  for (let at = start; at < start + value.length; at++) {
    const kind = [/[a-z]/g, /[A-Z]/g, /[0-9]/g].find((one) => text[at]?.match(one));
    const same = kind ? (value.match(kind) ?? []) : [];
    if (same.length === 0) continue;
    const other = text.slice(0, at) + (same[randomInt(same.length)] ?? "") + text.slice(at + 1);
    const match = rule.pattern.exec(other);
    const drawn = match?.groups?.["value"] ?? match?.[0];
    if (drawn !== undefined && drawn.length === value.length && (rule.accept?.(drawn) ?? true)) text = other;
  }
  return text;
}

/** @param {{ what: string, total: number, missed: number, goal: number | null, rules: readonly string[] }} given @returns {Row} */
function rowOf({ what, total, missed, goal, rules }) {
  const share = (100 * (total - missed)) / total;
  return {
    what,
    unit: "%",
    ours_p50: share,
    ours_p99: null,
    peer: "-",
    peer_p50: null,
    ratio: null,
    goal: goal === null ? null : `≥ ${goal} %`,
    holds: goal === null ? null : share >= goal,
    ...(missed > 0 && { note: `${total - missed} of ${total}; not all of ${rules.slice(0, 8).join(", ")}` }),
    details: { total, missed, rules },
  };
}

/**
 * Files with a finding, where nobody put a secret.
 *
 * @param {Scan} scan @param {string} where @param {readonly string[]} names @param {number} seconds @returns {Row}
 */
function falseAlarms(scan, where, names, seconds) {
  const start = performance.now();
  /** @type {{ file: string, rule: string }[]} */
  const alarms = [];
  let [files, bytes] = [0, 0];
  for (const name of names) {
    if (performance.now() - start > seconds * 1000) break;
    const path = join(ROOT, name);
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found?.isFile() || found.size > MAX_FILE_BYTES) continue;
    files++;
    bytes += found.size;
    const alarm = scan.file(name, readFileSync(path)).find(({ severity }) => severity === "high");
    if (alarm) alarms.push({ file: name, rule: alarm.rule });
  }
  return {
    what: `files with a false alarm in ${where}, of ${files} with ${Math.round(bytes / 1e6)} MB`,
    unit: "files",
    ours_p50: alarms.length,
    ours_p99: null,
    peer: "-",
    peer_p50: null,
    ratio: null,
    goal: where === "this repository" ? "0" : null,
    holds: where === "this repository" ? alarms.length === 0 : null,
    ...(alarms.length > 0 && {
      note: alarms
        .slice(0, 5)
        .map(({ file, rule }) => `${rule} in ${file}`)
        .join("; "),
    }),
    details: { files, bytes, alarms },
  };
}
