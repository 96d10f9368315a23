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
const CREATE = `backend vm: create → first output, ${ENVIRONMENT}`;

/** The backend `vm`, with its template made, beside the command `docker`. @param {import("../bench.mjs").Bench} bench @returns {AsyncGenerator<import("../table.mjs").Row>} */
export async function* measureVm({ installation, docker, rounds, seconds, say }) {
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
  const besideDocker = { peer: "docker run", peerSamples: first["docker run"] ?? [], goal: CREATE_GOAL };
  yield compare({ what: CREATE, ours: first["create"] ?? [], ...besideDocker });
  yield absolute("backend vm: exec true", first["exec"] ?? [], EXEC_MS);
  yield {
    ...absolute("backend vm: live snapshot", first["save"] ?? [], PAUSE_MS),
    note: "the whole call; the machine stands still for less",
  };
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
  yield compare({
    what: "backend vm: reset to a live snapshot → first output",
    ours: second["reset"] ?? [],
    peer: "create",
    peerSamples: second["create again"] ?? [],
    goal: RESET_GOAL,
  });
  yield compare({ what: `${CREATE}, second of two at once`, ours: second["create at once"] ?? [], ...besideDocker });
  const made = [id];
  const memory = await idleMemory(installation, async () => made.push(await create()));
  yield {
    what: "backend vm: idle machine, private memory",
    unit: "MiB",
    ours_p50: memory,
    ours_p99: null,
    peer: "-",
    peer_p50: null,
    ratio: null,
    goal: `≤ ${PRIVATE_MIB} MiB`,
    holds: memory <= PRIVATE_MIB,
  };
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
  const dockerAgain = { peer: "docker run", peerSamples: third["docker run again"] ?? [] };
  yield compare({
    what: `${CREATE}, ${IN_A_ROW} in a row`,
    ours: third["create in a row"] ?? [],
    ...dockerAgain,
    goal: CREATE_GOAL,
  });
  yield compare({ what: `${CREATE}, no machine ready`, ours: third["create first"] ?? [], ...dockerAgain });
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
