import { setTimeout } from "node:timers/promises";
import { compare } from "../comparison.mjs";
import { interleave } from "../interleave.mjs";
import { commandOf, descendants, privateKib } from "../processes.mjs";
import { median, p99 } from "../statistics.mjs";
import { timed } from "../timed.mjs";
import { createToFirstOutput } from "./create.mjs";
import { execTrue, inARow } from "./exec.mjs";

const CREATE_GOAL = { most: 0.75, text: "≤ 0.75" };
const RESET_GOAL = { most: 1.5, text: "≤ 1.5" };
const EXEC_MS = 25;
const PRIVATE_MIB = 50;
const PAUSE_MS = 300;
const EXECS_PER_ROUND = 10;
/** A second until it begins, and a second and a half to be made. */
const READY_MS = 2500;
const IN_A_ROW = 6;
const SAVED = "running";
const ENVIRONMENT = "debian:12";

/** The backend `vm`, with its template made, beside the command `docker`. @param {import("../bench.mjs").Bench} bench @returns {Promise<import("../table.mjs").Row[]>} */
export async function measureVm({ installation, docker, rounds, seconds, say }) {
  const { cloche } = installation;
  const create = async () => (await cloche.createWorkspace({ environment: ENVIRONMENT, backend: "vm" })).workspace_id;
  say("freezing a machine, or finding one");
  const id = await create();
  await cloche.createSnapshot(id, SAVED, { live: true });
  let saved = 0;
  // Three parts, and most of each is waiting: one round to warm up is enough.
  const plan = { rounds, seconds: seconds / 3, warmUp: 1 };
  const createOne = () => createToFirstOutput(cloche, ENVIRONMENT, "vm");
  const first = await interleave({
    ...plan,
    cases: {
      create: () => whenReady(createOne),
      "docker run": () => whenReady(async () => (await docker.run()).endMs),
      exec: () => inARow(EXECS_PER_ROUND, () => execTrue(cloche, id)),
      save: () => timed(() => cloche.createSnapshot(id, `${SAVED}-${++saved}`, { live: true })),
    },
  });
  // Apart from the saves: the machine that is kept ready is the one that was saved or used last.
  const second = await interleave({
    ...plan,
    cases: {
      "create again": () => whenReady(createOne),
      reset: () =>
        whenReady(() =>
          timed(async () => {
            await cloche.resetWorkspace(id, { snapshot: SAVED });
            await cloche.execWorkspace(id, { command: ["echo", "ready"] });
          }),
        ),
      "create at once": async () => {
        await createOne();
        return await createOne();
      },
    },
  });
  const made = [id];
  const memory = await idleMemory(installation, async () => made.push(await create()));
  for (const one of made) await cloche.deleteWorkspace(one);
  // Last: a daemon that has just started has no machine ready, and what waited has ended.
  const third = await interleave({
    ...plan,
    cases: {
      "create first": async () => {
        await cloche.stopDaemon();
        await cloche.listWorkspaces();
        return await createOne();
      },
      "docker run again": () => whenReady(async () => (await docker.run()).endMs),
      // Nobody pauses: the daemon makes machines ready meanwhile.
      "create in a row": async () => {
        const taken = [];
        for (let count = 0; count < IN_A_ROW; count++) taken.push(await createOne());
        return taken;
      },
    },
  });
  const samples = { ...first, ...second, ...third };
  const of = (/** @type {string} */ name) => samples[name] ?? [];
  const alone = { peer: "-", peer_p50: null, ratio: null };
  return [
    compare({
      what: `backend vm: create → first output, ${ENVIRONMENT}`,
      ours: of("create"),
      peer: "docker run",
      peerSamples: of("docker run"),
      goal: CREATE_GOAL,
    }),
    absolute("backend vm: exec true", of("exec"), EXEC_MS),
    {
      ...absolute("backend vm: live snapshot", of("save"), PAUSE_MS),
      note: "the whole call; the machine stands still for less",
    },
    compare({
      what: "backend vm: reset to a live snapshot → first output",
      ours: of("reset"),
      peer: "create",
      peerSamples: of("create again"),
      goal: RESET_GOAL,
    }),
    compare({
      what: `backend vm: create → first output, ${ENVIRONMENT}, second of two at once`,
      ours: of("create at once"),
      peer: "docker run",
      peerSamples: of("docker run"),
      goal: CREATE_GOAL,
    }),
    compare({
      what: `backend vm: create → first output, ${ENVIRONMENT}, ${IN_A_ROW} in a row`,
      ours: of("create in a row"),
      peer: "docker run",
      peerSamples: of("docker run again"),
      goal: CREATE_GOAL,
    }),
    compare({
      what: `backend vm: create → first output, ${ENVIRONMENT}, no machine ready`,
      ours: of("create first"),
      peer: "docker run",
      peerSamples: of("docker run again"),
    }),
    {
      ...alone,
      what: "backend vm: idle machine, private memory",
      unit: "MiB",
      ours_p50: memory,
      ours_p99: null,
      goal: `≤ ${PRIVATE_MIB} MiB`,
      holds: memory <= PRIVATE_MIB,
    },
  ];
}

/** @param {string} what @param {readonly number[]} ours @param {number} most @returns {import("../table.mjs").Row} */
const absolute = (what, ours, most) => ({
  ...{ what, unit: "ms", ours_p50: median(ours), ours_p99: p99(ours), peer: "-", peer_p50: null, ratio: null },
  goal: `≤ ${most} ms`,
  holds: median(ours) <= most,
  details: { ours_samples: ours },
});

/** A person pauses between two workspaces; meanwhile the daemon makes the next machine ready, and a peer is not to pay for that. @param {() => Promise<number>} work */
async function whenReady(work) {
  await setTimeout(READY_MS);
  return await work();
}

/** What one more machine adds that has run nothing, when the next one waits again. @param {import("../installation.mjs").Installation} installation @param {() => Promise<unknown>} create */
async function idleMemory({ daemonPid }, create) {
  const daemon = await daemonPid();
  const allMib = () =>
    descendants(daemon)
      .filter((pid) => commandOf(pid).includes("qemu-system"))
      .reduce((sum, pid) => sum + privateKib(pid) / 1024, 0);
  const settle = () => setTimeout(2 * READY_MS);
  await settle();
  const before = allMib();
  await create();
  await settle();
  return allMib() - before;
}
