import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { childrenOf } from "../../src/base/process-identity.ts";
import { removeTree } from "../../src/base/remove-tree.ts";
import type { Gates } from "../../src/contracts/gates.ts";
import { createGates } from "../../src/gate-processes/gate-processes.ts";
import type { Door } from "../../src/model/door.ts";
import { EchoServer } from "../helpers/doors.ts";
import { gateOf, porterOf } from "../helpers/gate-of.ts";
import { PROJECT, eventually } from "../helpers/installation.ts";

const LENDER = fileURLToPath(new URL("../fixtures/lending-guest.py", import.meta.url));
const ID = "ws-0123456789";
const HARMFUL = 7001;
const HARMLESS = 7002;
/** What would wait for the harmful door waits for 30 seconds and more. */
const PATIENCE_MS = 10_000;

/** A guest program that was taken over. */
class LendingGuest implements AsyncDisposable {
  readonly told: string[] = [];
  readonly #child: ChildProcess;

  constructor(socket: string, kind: string) {
    const words = [LENDER, socket, String(HARMFUL), kind, String(HARMLESS)];
    const child = spawn("python3", words, { stdio: ["ignore", "pipe", "inherit"] });
    createInterface({ input: child.stdout }).on("line", (line) => this.told.push(line));
    this.#child = child;
  }

  /** Where its doors are on this host. */
  async ports(): Promise<{ harmful: number; harmless: number }> {
    await eventually(() => expect(this.told[0]).toMatch(/^at /));
    const [, harmful, harmless] = (this.told[0] ?? "").split(" ").map(Number);
    return { harmful: harmful ?? 0, harmless: harmless ?? 0 };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }
}

/** What comes back of a word, for as long as somebody may be patient. */
async function echoed(port: number): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write("word");
  try {
    return String((await once(socket, "data", { signal: AbortSignal.timeout(PATIENCE_MS) }))[0]);
  } finally {
    socket.destroy();
  }
}

describe("G-191 a gate to which a guest program lends doors", () => {
  let home: string;
  let gates: Gates;
  let echo: EchoServer;
  let guest: LendingGuest | undefined;
  let held: Socket | undefined;

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), "cloche-lent-"));
    mkdirSync(join(home, "workspaces", ID), { recursive: true });
    echo = await new EchoServer().listen();
    gates = createGates({ home, program: join(PROJECT, "dist/gate/main.js"), log: silentLog });
  });

  afterEach(async () => {
    held?.destroy();
    await guest?.[Symbol.asyncDispose]();
    await gates.end(ID);
    await gates.close();
    await echo[Symbol.asyncDispose]();
    await removeTree(home);
  });

  const serve = async (...doors: readonly Door[]) =>
    await gates.serve(ID, { guestSocket: join(home, "guest.sock"), doors, egress: null });
  const harmless = (): Door => ({ port: HARMLESS, to: echo.to });
  const lend = async (kind: string, to = echo.to) => {
    guest = new LendingGuest(join(home, "guest.sock"), kind);
    const ports = await guest.ports();
    await serve({ port: HARMFUL, to }, harmless());
    await eventually(async () => expect(await echoed(ports.harmless)).toBe("word"));
    return { ports, told: guest.told };
  };
  const pids = () => {
    const found = gateOf(home, ID);
    if (!found) throw new Error("no gate runs");
    return { ...found, porter: porterOf(found.keeper) };
  };

  it.each(["nothing", "a pipe", "a folder", "a socket for datagrams", "a socket of files", "a connection"])(
    "G-191 gives back %s that came in the place of a door, and serves on",
    async (kind) => {
      const { ports, told } = await lend(kind);
      const before = pids();
      await eventually(() => expect(told).toContain(`back ${HARMFUL}`));
      expect(await echoed(ports.harmless)).toBe("word");
      expect(told).not.toContain(`back ${HARMLESS}`);
      expect(gates.reports(ID).map(({ state }) => state)).toEqual(["open", "open"]);
      expect(pids()).toEqual(before);
    },
  );

  it("G-191 waits for no connection that somebody else has taken", async () => {
    const { ports } = await lend("one that blocks");
    for (let round = 0; round < 20; round++) {
      held = connect(ports.harmful, "127.0.0.1").on("error", () => undefined);
      await sleep(20);
      held.destroy();
      expect(await echoed(ports.harmless)).toBe("word");
    }
  });

  it("G-191 keeps little for a connection that does not read, and closes it at once, however long its door was told to wait", async () => {
    const talker = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.write(Buffer.alloc(64 * 1024 * 1024));
    }).listen(0, "127.0.0.1");
    await once(talker, "listening");
    const { ports } = await lend("one that waits long for its end", {
      kind: "tcp",
      port: (talker.address() as AddressInfo).port,
    });
    held = connect(ports.harmful, "127.0.0.1").on("error", () => undefined);
    await once(held, "connect");
    held.pause();
    await sleep(500); // until nothing fits any more
    const waiting = waitingAt(ports.harmful);
    expect(waiting).toBeGreaterThan(0);
    expect(waiting).toBeLessThan(1024 * 1024);
    await serve(harmless());
    expect(await echoed(ports.harmless)).toBe("word");
    talker.close();
  });

  it("G-191 is not woken by reports that it did not ask for", async () => {
    const { ports } = await lend("one that reports all that is sent");
    held = connect(ports.harmful, "127.0.0.1").on("error", () => undefined);
    held.write("word");
    expect(String((await once(held, "data"))[0])).toBe("word");
    const before = ticksOf(pids().gate);
    await sleep(1000);
    // It would be a hundred.
    expect(ticksOf(pids().gate) - before).toBeLessThan(50);
  });

  it("G-191 has its connections taken by a process without rights, which ends with the gate", async () => {
    await lend("a pipe");
    const { keeper, gate, porter } = pids();
    const of = (pid: number | undefined, what: string) =>
      new RegExp(`^${what}:\\s+(.*)$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    expect(of(porter, "Uid")).toBe(of(gate, "Uid"));
    expect([of(porter, "CapEff"), of(porter, "NoNewPrivs"), of(porter, "Seccomp")]).toEqual([
      "0000000000000000",
      "1",
      "2",
    ]);
    process.kill(gate, "SIGKILL");
    await eventually(() => expect(porterOf(keeper)).not.toBe(porter));
    await eventually(() => expect(porterOf(keeper)).toBeGreaterThan(0));
    process.kill(keeper, "SIGKILL");
    await eventually(() => expect(childrenOf(keeper)).toEqual([]));
  });
});

/** Bytes that a host's connections at a port have not got rid of. */
function waitingAt(port: number): number {
  const lines = readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const own = lines.filter(([, address, , state]) => address === local && state !== "0A");
  return own.reduce((sum, [, , , , queues = ""]) => sum + Number.parseInt(queues, 16), 0);
}

function ticksOf(pid: number): number {
  const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ");
  const all = fields.split(" ").map(Number);
  return (all[11] ?? 0) + (all[12] ?? 0);
}
