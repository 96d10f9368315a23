import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { URL, fileURLToPath } from "node:url";
import { compare } from "../comparison.mjs";
import { commitAll } from "../git-commit.mjs";
import { interleave } from "../interleave.mjs";
import { timeCommand } from "../timed-command.mjs";
import { measureGitScan } from "../git/scan-of-push.mjs";

const FOLDERS = 100;
const FILES = 30;
const NEW_FILES = 10_000;
const NEW_FILE_BYTES = 4000;
const MARK = "took ";

/**
 * What the git gate takes beside the same git on the host, straight to the same server: a clone from a mirror that is filled, a push of one commit, and a push of
 * 10,000 new files, which are unpacked and read.
 *
 * @param {import("../bench.mjs").Bench} bench
 */
export async function measureGit({ installation: { cloche, directory }, rounds, seconds, say }) {
  say("writing a repository");
  const folder = join(directory, "git-upstreams");
  await writeUpstream(folder, join(directory, "git-project"));
  const server = spawn(process.execPath, [fileURLToPath(new URL("../git/web-server.mjs", import.meta.url)), folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const port = await new Promise((done) => server.stdout.once("data", (text) => done(Number(String(text)))));
    const url = `http://127.0.0.1:${port}/app.git`;
    const directUrl = `http://127.0.0.1:${port}/direct.git`;
    const { Manifest } = await import(new URL("../../dist/index.js", import.meta.url).href);
    const agent_provider = { template: "command", settings: { argv: ["/bin/sh", "-c", "exec sleep 3600"] } };
    const git = {
      user: { name: "bench", email: "bench@localhost" },
      repos: { app: { url, rules: { force: "allow" } } },
    };
    const manifest = Manifest.fromObject({
      bottles: { git: { environment: "host", supervise: false, agent_provider, git } },
      agents: { git: { bottle: "git", prompt: "" } },
    });
    const run = await cloche.startRun("git", { manifest, headless: true, prompt: "go", project_path: directory });
    try {
      const both = await measureBoth({
        cloche,
        id: run.workspace_id,
        urls: { ours: url, direct: directUrl },
        directory,
        rounds,
        seconds,
      });
      return [...both, await measureGitScan({ directory, rounds })];
    } finally {
      await cloche.stopRun(run.identity);
      await cloche.cleanUp({ all: true });
    }
  } finally {
    server.kill();
  }
}

/** @param {{ cloche: import("../installation.mjs").Cloche, id: string, urls: { ours: string, direct: string }, directory: string, rounds: number, seconds: number }} given */
async function measureBoth({ cloche, id, urls, directory, rounds, seconds }) {
  /** @param {string} script */
  const inside = async (script) => {
    const { exit_code, stdout, stderr } = await cloche.execWorkspace(id, {
      command: ["/bin/sh", "-c", script],
      timeout_seconds: 300,
    });
    if (exit_code !== 0) throw new Error(`in the sandbox: ${stderr}`);
    return timesOf(stdout);
  };
  /** @param {string} script */
  const outside = async (script) => {
    const identity =
      "export GIT_AUTHOR_NAME=bench GIT_AUTHOR_EMAIL=b@l GIT_COMMITTER_NAME=bench GIT_COMMITTER_EMAIL=b@l";
    const clean = "GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null";
    const { stdout } = await timeCommand([
      "/bin/sh",
      "-c",
      `cd "${directory}"; ${identity}; export ${clean}; ${script}`,
    ]);
    return timesOf(stdout);
  };
  let number = 0;
  /** @typedef {"ours" | "direct"} Who */
  const clone = (/** @type {Who} */ who) => `d=c${++number}; ${timed(`git clone -q ${urls[who]} $d`)}; rm -rf $d`;
  const ready = (/** @type {Who} */ who) =>
    `test -d w-${who} || git clone -q ${urls[who]} w-${who} || exit 1; cd w-${who}`;
  const one = (/** @type {Who} */ who) =>
    `${ready(who)}; echo ${++number} >f; git add f; git commit -qm ${number}; ${timed(`git push -q -f origin HEAD:${who}-one`)}`;
  const many = (/** @type {Who} */ who) =>
    `${ready(who)}; git checkout -q -B many origin/main; mkdir -p n; head -c ${NEW_FILES * NEW_FILE_BYTES} /dev/urandom | od -An -tx1 -v | head -c ${NEW_FILES * NEW_FILE_BYTES} | split -b ${NEW_FILE_BYTES} -a 4 - n/; git add n; git commit -qm many; ${timed(`git push -q -f origin HEAD:${who}-many-${++number}`)}`;
  const share = { seconds: seconds / 3, warmUp: 1 };
  const clones = await interleave({
    rounds: Math.min(rounds, 10),
    ...share,
    cases: { ours: () => inside(clone("ours")), direct: () => outside(clone("direct")) },
  });
  const ones = await interleave({
    rounds: Math.min(rounds, 10),
    ...share,
    cases: { ours: () => inside(one("ours")), direct: () => outside(one("direct")) },
  });
  const manies = await interleave({
    rounds: 1, // half a minute for the two
    seconds: seconds / 3,
    warmUp: 0,
    cases: { ours: () => inside(many("ours")), direct: () => outside(many("direct")) },
  });
  const peer = "git itself";
  return [
    compare({
      what: `git clone of ${FOLDERS * FILES} files through the gate`,
      ours: clones["ours"] ?? [],
      peer,
      peerSamples: clones["direct"] ?? [],
      goal: { most: 1.5, text: "≤ 1.5" },
      note: "the mirror is filled, and asks the upstream what is new",
    }),
    compare({
      what: "git push of one commit through the gate",
      ours: ones["ours"] ?? [],
      peer,
      peerSamples: ones["direct"] ?? [],
      goal: { most: 2, plus: 50, text: "≤ 2 and 50 ms" },
    }),
    compare({
      what: `git push of ${NEW_FILES.toLocaleString("en-US")} new files, ${(NEW_FILES * NEW_FILE_BYTES) / 1e6} MB, through the gate`,
      ours: manies["ours"] ?? [],
      peer,
      peerSamples: manies["direct"] ?? [],
      note: "unpacked, checked and read whole before it is sent on",
    }),
  ];
}

/** Prints how long a command took. @param {string} command */
const timed = (command) => `t=$(date +%s%N); ${command} || exit 1; echo "${MARK}$((($(date +%s%N) - t) / 1000))"`;

/** @param {string} stdout */
const timesOf = (stdout) =>
  [...stdout.matchAll(/^took (\d+)$/gm)].map(([, microseconds]) => Number(microseconds) / 1000);

/** @param {string} folder @param {string} project */
async function writeUpstream(folder, project) {
  for (let at = 0; at < FOLDERS; at++) {
    const below = join(project, `part-${at}`);
    mkdirSync(below, { recursive: true });
    for (let file = 0; file < FILES; file++)
      writeFileSync(
        join(below, `file-${file}.ts`),
        `export const value${file} = ${at};\n`.repeat(20 + ((at * file) % 200)),
      );
  }
  await commitAll(project);
  mkdirSync(folder, { recursive: true });
  // One for each, so that neither finds what the other has pushed.
  for (const name of ["app.git", "direct.git"]) {
    const bare = join(folder, name);
    await timeCommand(["git", "clone", "--quiet", "--bare", project, bare]);
    await timeCommand(["git", "-C", bare, "branch", "-M", "main"]);
    await timeCommand(["git", "-C", bare, "config", "http.receivepack", "true"]);
  }
}
