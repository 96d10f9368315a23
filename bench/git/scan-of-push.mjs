import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { Readable } from "node:stream";
import { URL, fileURLToPath } from "node:url";
import { median, p99 } from "../statistics.mjs";
import { timeCommand } from "../timed-command.mjs";

const FILES = 10_000;
const FILE_BYTES = 4000;
const GOAL_MB = 50;
const WHO = "bench <bench@localhost> 1700000000 +0000";

/**
 * How fast a push of 10,000 files of code is read: git takes them out of the pack, and the detectors look at them, as they do for every push.
 *
 * @param {{ directory: string, rounds: number }} given
 * @returns {Promise<import("../table.mjs").Row>}
 */
export async function measureGitScan({ directory, rounds }) {
  const { HostGit } = await import("../../dist/gate/git/host-git.js");
  const { Quarantine } = await import("../../dist/gate/git/quarantine.js");
  const { lookAtPack } = await import("../../dist/gate/git/pushed-objects.js");
  const { createDetector } = await import("../../dist/policy/dlp/create-detector.js");
  const path = join(directory, "git-scan.git");
  mkdirSync(path, { recursive: true });
  await timeCommand(["git", "init", "--quiet", "--bare", path]);
  await importCode(path);
  const git = new HostGit();
  const pack = join(directory, "git-scan.pack");
  await timeCommand(["/bin/sh", "-c", `git -C "${path}" pack-objects --all --stdout --quiet </dev/null >"${pack}"`]);
  const mirror = /** @type {import("../../dist/gate/git/mirror.js").Mirror} */ ({
    path: join(directory, "git-empty.git"),
  });
  await timeCommand(["git", "init", "--quiet", "--bare", mirror.path]);
  const quarantine = new Quarantine(git, mirror, join(directory, "git-quarantine"));
  const { signal } = new globalThis.AbortController();
  await quarantine.unpack(readFileSync(pack), Readable.from([]), signal);
  const looking = {
    scan: createDetector({ known: [] }).scope(),
    allowed: new Set(),
    identity: null,
    maxFileBytes: Infinity,
    signal,
    onProgress: () => undefined,
  };
  const samples = [];
  const elapsed = [];
  for (let round = 0; round < Math.min(5, rounds) + 1; round++) {
    const [start, before] = [performance.now(), process.cpuUsage()];
    const { bytes, ids, findings } = await lookAtPack(git, quarantine, looking);
    if (ids.size < FILES || findings.length > 0) throw new Error("the push of the benchmark is not as it should be");
    const { user, system } = process.cpuUsage(before);
    if (round === 0) continue;
    samples.push(bytes / (user + system));
    elapsed.push(bytes / 1000 / (performance.now() - start));
  }
  await quarantine.remove();
  return {
    what: `reading a push of ${FILES.toLocaleString("en-US")} files of code, ${(FILES * FILE_BYTES) / 1e6} MB`,
    unit: "MB/s",
    ours_p50: median(samples),
    ours_p99: p99(samples),
    peer: "-",
    peer_p50: null,
    ratio: null,
    goal: `≥ ${GOAL_MB} MB/s`,
    holds: median(samples) >= GOAL_MB,
    note: `all rules, by processor time of the gate; ${median(elapsed).toFixed(0)} MB/s by the clock, with git that takes each object out of its pack`,
    details: { samples, elapsed },
  };
}

/** One commit of files that are put together of lines of this program's own code, no two alike. @param {string} path */
async function importCode(path) {
  const lines = codeLines();
  const child = spawn("git", ["-C", path, "fast-import", "--quiet"], { stdio: ["pipe", "ignore", "inherit"] });
  const ended = once(child, "close");
  /** @param {string | Buffer} data */
  const write = async (data) => {
    if (!child.stdin.write(data)) await once(child.stdin, "drain");
  };
  await write(`commit refs/heads/main\ncommitter ${WHO}\ndata 5\ncode\n\n`);
  for (let at = 0; at < FILES; at++) {
    let text = `// file ${at}\n`;
    for (let line = at * 37; text.length < FILE_BYTES; line += 1 + (at % 7)) text += lines[line % lines.length];
    const content = Buffer.from(text.slice(0, FILE_BYTES));
    await write(`M 100644 inline d${at % 100}/f${at}.ts\ndata ${content.length}\n`);
    await write(content);
    await write("\n");
  }
  child.stdin.end();
  const [code] = await ended;
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
}

function codeLines() {
  const source = fileURLToPath(new URL("../../src", import.meta.url));
  const names = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) =>
    /(?<!test)\.ts$/.test(name),
  );
  return names
    .filter((name) => !name.includes("dlp"))
    .flatMap((name) => readFileSync(join(source, name), "utf8").split(/(?<=\n)/));
}
