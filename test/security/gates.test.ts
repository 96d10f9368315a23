import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type Server, type Socket, createServer } from "node:net";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { ownProgram } from "../../src/base/own-program.ts";
import { removeTree } from "../../src/base/remove-tree.ts";
import type { Gates } from "../../src/contracts/gates.ts";
import { createGates } from "../../src/gate-processes/gate-processes.ts";
import { FrameDecoder, encodeFrame } from "../../src/guest/codec.ts";
import { GUEST, GUEST_STREAM_BIT, HOST } from "../../src/guest/frame-types.ts";
import { helloPayload, pack } from "../guest/fake-guest.ts";
import { DoorsInstallation, EchoServer } from "../helpers/doors.ts";
import { Installation, PROJECT, eventually, processesNaming } from "../helpers/installation.ts";

const PORT = 7001;
const MOST_MIB = 250;

function residentMib(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

describe("G-28 the gate of a sandbox", () => {
  let at: DoorsInstallation;
  let echo: EchoServer;
  let id: string;

  beforeAll(async () => {
    at = new DoorsInstallation(new Installation("g"));
    echo = await new EchoServer().listen(at.at.path("told-to-the-gate.sock"));
    id = (await at.sdk.createWorkspace({ backend: "container", environment: "host" })).workspace_id;
    await at.setDoors(id, [{ port: PORT, to: echo.to }]);
  });

  afterAll(async () => {
    await at.sdk.close();
    await at.at[Symbol.asyncDispose]();
    await echo[Symbol.asyncDispose]();
  });

  it("G-28 has a bounded number of connections, however many a sandbox opens, and serves on", async () => {
    const before = at.gate(id);
    echo.connections = 0;
    const program = `use IO::Socket::INET; my @all; $SIG{PIPE} = "IGNORE";
      for (1..1200) { my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => ${PORT}); if ($s) { print $s "x" x 70000; push @all, $s } }
      sleep 2; print scalar(@all);`;
    const { stdout } = await at.sdk.execWorkspace(id, { command: ["perl", "-e", program], timeout_seconds: 50 });
    expect(Number(stdout)).toBeGreaterThan(256);
    expect(echo.connections).toBeGreaterThan(200);
    expect(echo.open.most).toBeLessThanOrEqual(256);
    expect(residentMib(before?.gate ?? 0)).toBeLessThan(MOST_MIB);
    await eventually(async () => expect(await at.knock(id, PORT)).toBe("hello"));
    expect(at.gate(id)).toEqual(before);
  });

  it("G-28 is not reached by another sandbox, nor its socket by any", async () => {
    const other = (await at.sdk.createWorkspace({ backend: "container", environment: "host" })).workspace_id;
    expect(await at.knock(other, PORT)).toBeUndefined();
    const folder = join(at.at.home, "workspaces", id, "gate");
    for (const one of [id, other]) {
      const look = `ls ${folder}; grep -c control.sock /proc/net/unix`;
      const { stdout } = await at.sdk.execWorkspace(one, { command: look });
      expect(stdout.trim()).toBe("0");
    }
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "control.sock")).mode & 0o777).toBe(0o600);
  });

  it("G-28 has nothing of what it was told in arguments, environment or files", () => {
    const { keeper, gate } = at.gate(id) ?? { keeper: 0, gate: 0 };
    for (const pid of [keeper, gate]) {
      expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).toContain(id);
      for (const file of ["cmdline", "environ"])
        expect(readFileSync(`/proc/${pid}/${file}`, "utf8")).not.toContain("told-to-the-gate");
    }
    const folder = join(at.at.home, "workspaces", id, "gate");
    const files = readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile());
    expect(files.sort()).toEqual(["gate.log", "gate.log.1", "gate.pid"]);
    for (const name of files) expect(readFileSync(join(folder, name), "utf8")).not.toContain("told-to-the-gate");
  });

  it("G-28 has a log of two files, of which it fills the second one as a user who can open neither", async () => {
    const log = join(at.at.home, "workspaces", id, "gate", "gate.log");
    const before = at.gate(id);
    if (!before) throw new Error("no gate runs");
    appendFileSync(log, "of before\n".repeat(110_000));
    process.kill(before.gate, "SIGKILL"); // the next one says that it serves
    await eventually(() => expect(statSync(`${log}.1`).size).toBeGreaterThan(1024 * 1024));
    expect(statSync(log).size).toBeLessThan(10_000);
    await eventually(async () => expect(await at.knock(id, PORT)).toBe("hello"));
    expect(statSync(`${log}.1`).mode & 0o777).toBe(0o600);
  });
});

/** A guest program that has been taken over: says hello, opens every door, then does as it likes, once. */
class HostileGuest implements AsyncDisposable {
  readonly connections: Socket[] = [];
  readonly #server: Server;

  constructor(attack: (socket: Socket, door: number) => void) {
    this.#server = createServer((socket) => {
      this.connections.push(socket);
      const isFirst = this.connections.length === 1;
      socket.on("error", () => undefined);
      const decoder = new FrameDecoder((type, stream) => {
        if (type === HOST.HELLO) socket.write(encodeFrame(GUEST.HELLO, 0, helloPayload()));
        if (type !== HOST.LISTEN) return;
        socket.write(encodeFrame(GUEST.OK, stream, Buffer.alloc(0)));
        if (isFirst) attack(socket, stream);
      });
      socket.on("data", (chunk: Buffer) => decoder.push(chunk));
    });
  }

  async listen(path: string): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(path, done));
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.connections) socket.destroy();
    await new Promise((done) => this.#server.close(done));
  }
}

describe("G-28 the gate of a guest program that was taken over", () => {
  const ID = "ws-0123456789";
  let home: string;
  let gates: Gates;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "cloche-gate-"));
    mkdirSync(join(home, "workspaces", ID), { recursive: true });
    gates = createGates({ home, program: join(PROJECT, "dist/gate/main.js"), log: silentLog });
  });

  afterEach(async () => {
    await gates.end(ID);
    await gates.close();
    await removeTree(home);
  });

  const gatePid = (): number => {
    const keeper = readFileSync(join(home, "workspaces", ID, "gate/gate.pid"), "utf8").split(" ")[0] ?? "";
    return Number(readFileSync(`/proc/${keeper}/task/${keeper}/children`, "utf8").trim());
  };

  it("G-28 ends when the folder of its workspace is removed by whoever knows nothing of it", async () => {
    const to = { kind: "unix", path: join(home, "nobody.sock") } as const;
    await gates.serve(ID, { guestSocket: null, doors: [{ port: PORT, to }], egress: null });
    expect(processesNaming(home)).toHaveLength(2);
    await gates.close();
    await removeTree(join(home, "workspaces", ID));
    await eventually(() => expect(processesNaming(home)).toEqual([]));
  });

  it("G-28 is one, also when a second is started beside it", async () => {
    const to = { kind: "unix", path: join(home, "nobody.sock") } as const;
    const wanted = { guestSocket: null, doors: [{ port: PORT, to }], egress: null };
    const other = createGates({ home, program: join(PROJECT, "dist/gate/main.js"), log: silentLog });
    const told = await Promise.all([gates.serve(ID, wanted), other.serve(ID, wanted)]);
    expect(told[0]).toEqual(told[1]);
    expect(processesNaming(home)).toHaveLength(2);
    await other.close();
  });

  /** Of the processes that name the home. */
  const pids = (): number[] => processesNaming(home).map((line) => parseInt(line, 10));

  /** A keeper, and the gate as a program of its own: while it becomes that, it has no name at all. */
  const isReady = (): void =>
    expect(processesNaming(home).map((line) => line.includes("gate-keeper"))).toEqual(
      expect.arrayContaining([true, false]),
    );

  it("G-28 may have been started ahead: then it is given to one workspace, with its record, and ends with that", async () => {
    gates.expect();
    await eventually(isReady);
    const started = pids();
    const to = { kind: "unix", path: join(home, "nobody.sock") } as const;
    const [report] = await gates.serve(ID, { guestSocket: null, doors: [{ port: PORT, to }], egress: null });
    expect(report).toMatchObject({ port: PORT });
    expect(pids()).toEqual(started);
    expect(started).toContain(gatePid());
    expect(readdirSync(join(home, "spare-gates"))).toEqual([]);
    await gates.end(ID);
    expect(pids().filter((pid) => started.includes(pid))).toEqual([]);
    // The next one waits for nobody yet, and ends with the daemon.
    await eventually(() => expect(pids()).toHaveLength(2));
    await gates.close();
    expect([pids(), readdirSync(join(home, "spare-gates"))]).toEqual([[], []]);
  });

  it("G-28 that was started ahead by a daemon that was killed is ended by the next one", async () => {
    gates.expect();
    await eventually(() => expect(pids()).toHaveLength(2));
    await createGates({ home, program: join(PROJECT, "dist/gate/main.js"), log: silentLog }).recover();
    expect([pids(), readdirSync(join(home, "spare-gates"))]).toEqual([[], []]);
    // Nobody gets one that has ended.
    await gates.serve(ID, { guestSocket: null, doors: [], egress: null });
    expect(pids()).toContain(gatePid());
  });

  it("G-42 is connected by its keeper to what links of its folder name, and to nothing else", async () => {
    const folder = join(home, "asked");
    mkdirSync(folder, { mode: 0o700 });
    const server = createServer((socket) => socket.end("reached")).listen(join(folder, "there.sock"));
    symlinkSync("there.sock", join(folder, "link.sock"));
    writeFileSync(join(folder, "file"), "");
    for (const [name, target] of [
      ["to-0", "there.sock"],
      ["to-5", "link.sock"],
      ["to-6", "nobody.sock"],
      ["to-7", "file"],
    ] as const)
      symlinkSync(join(folder, target), join(folder, name));
    const program = `
      const told = [];
      process.on("message", (answer, socket) => {
        told.push(socket ? "socket" : answer.errno);
        socket?.on("data", (bytes) => told.push(String(bytes)));
      });
      for (const word of ["../asked/there.sock", { to: 0 }, -1, 131072, "x".repeat(1000), 0, 5, 6, 7, 8, 65536]) process.send(word);
      setTimeout(() => require("fs").writeFileSync(process.argv[1], JSON.stringify(told)), 500);
      setTimeout(() => undefined, 60_000);`;
    const words = ["gate-keeper", "--directory", folder, "--", process.execPath, "-e", program, join(folder, "told")];
    const keeper = spawn(ownProgram(), words, { stdio: ["ignore", "ignore", "inherit", "pipe"] });
    const { ENOENT, ENOTSOCK } = constants.errno;
    await eventually(() => {
      const told = JSON.parse(readFileSync(join(folder, "told"), "utf8")) as unknown[];
      // The link in the place of a socket is one itself, and so no socket. The last is a program that nobody has named.
      expect(told.filter((one) => one !== "reached")).toEqual(["socket", ENOTSOCK, ENOENT, ENOTSOCK, ENOENT, ENOENT]);
      expect(told).toContain("reached");
    });
    keeper.kill();
    await once(keeper, "exit");
    server.close();
  });

  const flood = (socket: Socket, door: number): void => {
    socket.pause(); // it takes no answer
    let stream = GUEST_STREAM_BIT;
    const more = (): void => {
      while (!socket.destroyed) {
        const frames = Array.from({ length: 2000 }, () =>
          encodeFrame(GUEST.INCOMING, door, pack(["u32", (stream = (stream + 1) >>> 0)])),
        );
        if (!socket.write(Buffer.concat(frames))) {
          socket.once("drain", more);
          return;
        }
      }
    };
    more();
  };

  it.each([
    ["opens connections without end and takes no refusal", flood],
    ["sends no frame at all", (socket: Socket) => void socket.write(Buffer.alloc(200_000, 0xff))],
    [
      "sends to a stream that never was",
      (socket: Socket) => void socket.write(encodeFrame(GUEST.DATA, 77, pack(["u8", 1]))),
    ],
  ])("G-28 goes on, within its bounds, and comes back when it %s", async (_what, attack) => {
    await using guest = await new HostileGuest(attack).listen(join(home, "guest.sock"));
    const to = { kind: "unix", path: join(home, "nobody.sock") } as const;
    await gates.serve(ID, { guestSocket: join(home, "guest.sock"), doors: [{ port: PORT, to }], egress: null });
    const pid = gatePid();
    await eventually(() => expect(guest.connections.length).toBeGreaterThan(1));
    expect(residentMib(pid)).toBeLessThan(MOST_MIB);
    await eventually(() => expect(gates.reports(ID)).toEqual([{ port: PORT, state: "open", reason: null }]));
    expect(gatePid()).toBe(pid);
    expect(statSync(join(home, "workspaces", ID, "gate/gate.log")).size).toBeLessThan(10_000);
  });
});
