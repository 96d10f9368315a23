import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type Server, type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ControlPort } from "./control-port.ts";
import { saveOwnMemory } from "./machine-memory.ts";
import { Qmp } from "./qmp.ts";
import { saveState } from "./save-state.ts";

/** What listens in an emulator's place: all that a guest can do that has taken over its machine's kernel, or the emulator. */
let folder: string;
let path: string;
let server: Server;
let talk: (socket: Socket) => void;
let sockets: Socket[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "cl-he-"));
  path = join(folder, "s");
  sockets = [];
  server = createServer((socket) => {
    sockets.push(socket.on("error", () => undefined));
    talk(socket);
  }).listen(path);
  await once(server, "listening");
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
  rmSync(folder, { recursive: true });
});

/** Writes as fast as it is read, until the other side has gone; resolves with the bytes that were taken. */
async function flood(socket: Socket, chunk: string, most: number): Promise<number> {
  let bytes = 0;
  socket.setMaxListeners(0);
  while (bytes < most && !socket.destroyed) {
    bytes += chunk.length;
    if (!socket.write(chunk)) await Promise.race([once(socket, "drain"), once(socket, "close")]).catch(() => undefined);
  }
  return bytes;
}

describe("a control port that a guest has taken over", () => {
  it("G-10 lines without end are refused, and not kept", async () => {
    const most = 64 * 1024 * 1024;
    let taken: Promise<number> | undefined;
    talk = (socket) => {
      taken = flood(socket, "nobody asked\n".repeat(5000), most);
    };
    const control = await ControlPort.connect(path);
    await expect(control.expect("built")).rejects.toMatchObject({ code: "GUEST_PROTOCOL" });
    expect(await taken).toBeLessThan(most);
  });

  it("G-10 a line without end is not kept", async () => {
    const length = 16 * 1024 * 1024;
    talk = (socket) => void flood(socket, "x".repeat(65_536), length).then(() => socket.write("\nready\n"));
    const control = await ControlPort.connect(path);
    const kept = control.expect("x".repeat(length)).then(() => "kept");
    kept.catch(() => undefined);
    expect(await Promise.race([kept, control.expect("ready").then(() => "not kept")])).toBe("not kept");
    control.close();
  });

  it("G-10 what it complains of is told in a few words", async () => {
    talk = (socket) => socket.write(`E${"x".repeat(60_000)}\n`);
    const control = await ControlPort.connect(path);
    const error: unknown = await control.expect("built").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "SANDBOX_START_FAILED" });
    expect((error as Error).message.length).toBeLessThan(400);
  });
});

describe("an emulator that a guest has taken over", () => {
  it.each([
    ["no JSON", "{nonsense\n"],
    ["nothing that is an object", "null\n"],
    ["a number", "7\n"],
    ["an error without a shape", '{"error":null}\n'],
    ["a line without end", "x".repeat(4 * 1024 * 1024)],
  ])("G-10 %s ends its own connection, and not the daemon", async (_what, text) => {
    talk = (socket) => socket.write(text);
    await expect(Qmp.connect(path)).rejects.toMatchObject({ code: "GUEST_PROTOCOL" });
  });

  it("G-10 a state without end is refused, and its machine not saved", async () => {
    talk = (socket) => {
      socket.on("data", (data: Buffer) => {
        const asked = data.toString().trim().split("\n");
        for (const line of asked) {
          socket.write('{"return":{}}\n');
          if (!line.includes('"migrate"')) continue;
          const stream = connect(join(folder, "save.sock"));
          sockets.push(stream.on("error", () => undefined));
          void flood(stream, "x".repeat(1024 * 1024), 256 * 1024 * 1024);
        }
      });
    };
    const qmp = await Qmp.connect(path);
    await expect(saveState(qmp, folder, join(folder, "state"))).rejects.toMatchObject({ code: "GUEST_PROTOCOL" });
    expect(statSync(join(folder, "state")).size).toBeLessThanOrEqual(64 * 1024 * 1024);
    qmp.close();
  });

  it("G-10 its memory mapped at another length is not walked", async () => {
    const memory = join(folder, "memory");
    writeFileSync(memory, Buffer.alloc(1024 * 1024));
    // mmap, at a length of 64 TiB
    const map =
      "open F, '+<', shift; syscall(9, 0, 1 << 46, 3, 2 | 0x4000, fileno(F), 0) > 0 or die; $| = 1; print 'mapped'; sleep 60";
    const emulator = spawn("perl", ["-e", map, memory]);
    try {
      await once(emulator.stdout, "data");
      const saving = saveOwnMemory(emulator.pid ?? 0, statSync(memory), join(folder, "own-memory"));
      await expect(saving).rejects.toMatchObject({ code: "INTERNAL" });
    } finally {
      emulator.kill("SIGKILL");
    }
  });
});
