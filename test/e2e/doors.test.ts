import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { childrenOf } from "../../src/base/process-identity.ts";
import { DockerEngine } from "../helpers/docker-engine.ts";
import { DoorsInstallation, EchoServer } from "../helpers/doors.ts";
import { Installation, eventually, processesNaming } from "../helpers/installation.ts";
import { isPorter, nameOf, porterOf } from "../helpers/gate-of.ts";
import { processesBeside } from "../helpers/sandbox-search.ts";
import { SmolvmStandIn } from "../helpers/smolvm-stand-in.ts";

/** A machine that is the first of its environment boots once. */
const OPEN_MS = 300_000;
const ECHO = 7001;
const OTHER = 7002;

interface BackendUnderTest {
  readonly backend: string;
  /** Whether its guest program can lend doors: not over a serial port, nor to another machine. */
  readonly lends: boolean;
  /** Variables of the installation, and what ends what stands behind them. */
  readonly surroundings: () => Promise<{ env: NodeJS.ProcessEnv; end: () => Promise<void> }>;
}

/** What is on its way when the daemon is killed: before its keeper was started, while it starts, while the gate does, and after. */
const KILLED_AFTER_MS = [0, 5, 10, 20, 40, 80, 160];

const NOTHING = { env: {}, end: () => Promise.resolve() };
const BACKENDS: readonly BackendUnderTest[] = [
  { backend: "container", lends: true, surroundings: () => Promise.resolve(NOTHING) },
  {
    backend: "docker",
    lends: true,
    surroundings: async () => {
      const engine = await DockerEngine.start();
      return { env: engine.env, end: () => engine[Symbol.asyncDispose]() };
    },
  },
  { backend: "vm", lends: false, surroundings: () => Promise.resolve(NOTHING) },
  {
    backend: "smolmachines",
    lends: false,
    surroundings: () => {
      const smolvm = new SmolvmStandIn();
      return Promise.resolve({ env: smolvm.env, end: () => smolvm.remove() });
    },
  },
];

describe.each(BACKENDS)("doors of a workspace, backend $backend", ({ backend, lends, surroundings }) => {
  let around: Awaited<ReturnType<BackendUnderTest["surroundings"]>>;
  let at: DoorsInstallation;
  let echo: EchoServer;
  let id: string;

  const processes = () => processesNaming(at.at.home).filter((line) => /gate-keeper|gate\/main\.js/.test(line));
  /** Without who takes connections at lent doors: that one comes a moment later, where it does. */
  const gates = () => processes().filter((line) => !isPorter(Number.parseInt(line, 10)));
  const create = async () => (await at.sdk.createWorkspace({ backend, environment: "debian:12" })).workspace_id;
  /** Somebody in the sandbox who connects again and again, whoever else runs. */
  const keepKnocking = async () => {
    const loop = `while :; do (exec 3<>/dev/tcp/127.0.0.1/${ECHO} && echo on >&3 && read -r line <&3); sleep 0.1; done 2>/dev/null`;
    await at.sdk.startService(id, "knocking", { command: ["bash", "-c", loop] });
  };
  const stopKnocking = () => at.sdk.stopService(id, "knocking");
  const isHeardFrom = async () => {
    const before = echo.connections;
    await eventually(() => expect(echo.connections).toBeGreaterThan(before + 3));
  };

  beforeAll(async () => {
    around = await surroundings();
    at = new DoorsInstallation(new Installation(`d${backend.slice(0, 1)}`, around.env));
    echo = await new EchoServer().listen(at.at.path("echo.sock"));
    id = await create();
  }, OPEN_MS);

  afterAll(async () => {
    await at.sdk.close();
    await at.at[Symbol.asyncDispose]();
    await echo[Symbol.asyncDispose]();
    await around.end();
  }, OPEN_MS);

  it("are closed until they are asked for", async () => {
    expect(await at.knock(id, ECHO)).toBeUndefined();
    expect(await at.setDoors(id, [{ port: ECHO, to: echo.to }])).toEqual([{ port: ECHO, state: "open", reason: null }]);
    expect(await at.knock(id, ECHO, "word")).toBe("word");
  });

  it("carry much, both ways at once", async () => {
    const size = 4 * 1024 * 1024;
    const command = `exec 3<>/dev/tcp/127.0.0.1/${ECHO}; head -c ${size} /dev/zero >&3 & head -c ${size} <&3 | wc -c`;
    const { stdout } = await at.sdk.execWorkspace(id, { command: ["bash", "-c", command], timeout_seconds: 120 });
    expect(stdout.trim()).toBe(String(size));
  });

  it("lead to ports too, and change without a loss for those that stay", async () => {
    await using other = await new EchoServer().listen();
    await keepKnocking();
    const before = at.gate(id);
    await at.setDoors(id, [
      { port: ECHO, to: echo.to },
      { port: OTHER, to: other.to },
    ]);
    expect(await at.knock(id, OTHER, "other")).toBe("other");
    await at.setDoors(id, [{ port: ECHO, to: echo.to }]);
    expect(await at.knock(id, OTHER)).toBeUndefined();
    await isHeardFrom();
    expect(at.gate(id)).toEqual(before);
    await stopKnocking();
  });

  it("work on while the daemon is dead, and the next one finds them", async () => {
    await keepKnocking();
    const before = at.gate(id);
    await at.killDaemon();
    await isHeardFrom();
    expect(await at.knock(id, ECHO)).toBe("hello");
    await eventually(async () => expect(await at.doorsOf(id)).toEqual([{ port: ECHO, state: "open", reason: null }]));
    expect(at.gate(id)).toEqual(before);
    await stopKnocking();
  });

  if (lends)
    it("let in while the guest program stands still: it is not in between", async () => {
      await keepKnocking();
      await isHeardFrom();
      const [knocking] = processesNaming(`/dev/tcp/127.0.0.1/${ECHO}`).map((line) => Number.parseInt(line, 10));
      const guests = processesBeside(knocking ?? 0).filter((pid) => nameOf(pid) === "cloche-guest");
      expect(guests).not.toEqual([]);
      for (const pid of guests) process.kill(pid, "SIGSTOP");
      try {
        await isHeardFrom();
      } finally {
        for (const pid of guests) process.kill(pid, "SIGCONT");
      }
      await stopKnocking();
    });

  if (lends)
    it("let in without the porter when that is killed, and leave nothing of it", async () => {
      const keeper = at.gate(id)?.keeper ?? 0;
      await eventually(() => expect(porterOf(keeper)).toBeGreaterThan(0));
      process.kill(porterOf(keeper) ?? 0, "SIGKILL");
      await eventually(async () => expect(await at.knock(id, ECHO)).toBe("hello"));
      await eventually(() => expect(childrenOf(keeper)).toHaveLength(1));
    });

  it("come back by themselves when the gate is killed while no daemon runs", async () => {
    await keepKnocking();
    await at.killDaemon();
    const before = at.gate(id);
    process.kill(before?.gate ?? 0, "SIGKILL");
    await eventually(() => expect(at.gate(id)).toEqual({ keeper: before?.keeper, gate: expect.any(Number) as number }));
    await isHeardFrom();
    await stopKnocking();
  });

  it("are opened again by the daemon when the gate's keeper is killed", async () => {
    const before = at.gate(id);
    process.kill(before?.keeper ?? 0, "SIGKILL");
    await eventually(async () => expect(await at.knock(id, ECHO)).toBe("hello"));
    expect(at.gate(id)?.keeper).not.toBe(before?.keeper);
    expect(gates()).toHaveLength(2);
  });

  it("are open when a reset is done, and when a stopped workspace was started", async () => {
    await at.sdk.resetWorkspace(id);
    expect(await at.knock(id, ECHO)).toBe("hello");
    await at.sdk.stopWorkspace(id);
    await at.sdk.startWorkspace(id);
    expect(await at.knock(id, ECHO)).toBe("hello");
    await at.sdk.stopWorkspace(id);
    await at.killDaemon();
    await at.sdk.startWorkspace(id);
    expect(await at.knock(id, ECHO)).toBe("hello");
    expect(gates()).toHaveLength(2);
  });

  if (backend === "vm")
    it("are open in a sandbox that goes on from a live snapshot", async () => {
      await at.sdk.createSnapshot(id, "live", { live: true });
      expect(await at.knock(id, ECHO)).toBe("hello");
      await at.sdk.resetWorkspace(id, { snapshot: "live" });
      expect(await at.knock(id, ECHO)).toBe("hello");
    });

  it("are a fork's where that is asked for, through a gate of its own", async () => {
    const fork = await at.forkWithDoors(id);
    const plain = (await at.sdk.forkWorkspace(id)).workspace_id;
    expect(await at.knock(fork, ECHO)).toBe("hello");
    expect(at.gate(fork)?.gate).not.toBe(at.gate(id)?.gate);
    expect(await at.knock(plain, ECHO)).toBeUndefined();
    expect(at.gate(plain)).toBeUndefined();
    await at.sdk.deleteWorkspace(fork);
    await at.sdk.deleteWorkspace(plain);
    expect(await at.knock(id, ECHO)).toBe("hello");
    expect(gates()).toHaveLength(2);
  });

  if (backend === "container")
    it.each(KILLED_AFTER_MS)(
      "leave nothing of a daemon that was killed %i ms after they were asked for",
      async (ms) => {
        const other = await create();
        const asked = at.setDoors(other, [{ port: ECHO, to: echo.to }]).catch(() => undefined);
        await sleep(ms);
        await at.killDaemon();
        await asked;
        const isWanted = (await at.doorsRecorded(other)) > 0;
        if (isWanted) await eventually(async () => expect(await at.knock(other, ECHO)).toBe("hello"));
        expect(gates()).toHaveLength(isWanted ? 4 : 2);
        await at.sdk.deleteWorkspace(other);
        await eventually(() => expect(gates()).toHaveLength(2));
      },
    );

  it("leave nothing when they are closed, or their workspace is deleted, by whichever daemon", async () => {
    expect(await at.setDoors(id, [])).toEqual([]);
    expect(processes()).toEqual([]);
    expect(await at.knock(id, ECHO)).toBeUndefined();
    await at.setDoors(id, [{ port: ECHO, to: echo.to }]);
    await at.sdk.deleteWorkspace(id);
    expect(processes()).toEqual([]);
    id = await create();
    await at.setDoors(id, [{ port: ECHO, to: echo.to }]);
    await at.killDaemon();
    await at.sdk.deleteWorkspace(id);
    expect(processes()).toEqual([]);
  });
});
