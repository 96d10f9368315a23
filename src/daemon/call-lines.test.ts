import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LineSplitter } from "../base/line-splitter.ts";
import { silentLog } from "../base/log.ts";
import { CALLS_PATH, CALLS_PROTOCOL } from "../model/call-lines.ts";
import type { ExecResult } from "../model/exec.ts";
import type { Handlers, DaemonHandlers } from "./handlers.ts";
import { InFlight } from "./in-flight.ts";
import { MAX_BODY_BYTES } from "./request-body.ts";
import { Admission } from "./admission.ts";
import { Connections } from "./connections.ts";
import { createApiServer, type ApiServer } from "./server.ts";
import { listenPrivately } from "./socket.ts";

let folder: string;
let api: ApiServer;
let inFlight: InFlight;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "cloche-lines-"));
  inFlight = new InFlight(() => undefined);
  const handlers: Partial<Handlers & DaemonHandlers> = {
    listWorkspaces: () => Promise.resolve({ count: 0, workspaces: [] }),
    daemonStatus: () => Promise.resolve({ running: true } as never),
    createWorkspace: ({ name }, { progress }) => {
      progress({ step: "one" });
      return Promise.resolve({ name } as never);
    },
    execWorkspace: async (_input, { signal }) => {
      await once(signal, "abort");
      aborted();
      return {} as ExecResult;
    },
  };
  api = createApiServer({
    handlers: handlers as Handlers & DaemonHandlers,
    version: "1.2.3",
    inFlight,
    log: silentLog,
    connections: new Connections(),
    admission: new Admission(),
  });
  await listenPrivately(api.server, join(folder, "daemon.sock"));
});
afterEach(async () => {
  api.closeAllConnections();
  api.server.close();
  await once(api.server, "close");
  rmSync(folder, { recursive: true });
});

let aborted: () => void = () => undefined;

interface Lines {
  readonly socket: Socket;
  readonly send: (text: string) => void;
  readonly next: () => Promise<unknown>;
}

async function open(version = "1.2.3"): Promise<Lines> {
  const headers = { connection: "Upgrade", upgrade: CALLS_PROTOCOL, "x-cloche-version": version };
  const request = httpRequest({ socketPath: join(folder, "daemon.sock"), path: CALLS_PATH, headers });
  request.end();
  const [, socket] = (await once(request, "upgrade")) as [unknown, Socket];
  const came: unknown[] = [];
  let wake: () => void = () => undefined;
  const onLine = (line: Buffer) => {
    came.push(JSON.parse(line.toString()));
    wake();
  };
  const splitter = new LineSplitter({ onLine });
  socket.on("data", (chunk: Buffer) => splitter.push(chunk));
  socket.on("error", () => undefined);
  return {
    socket,
    send: (text) => void socket.write(text),
    next: async () => {
      while (came.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return came.shift();
    },
  };
}

const call = (operation: string, input: unknown = {}): string => `${JSON.stringify({ operation, input })}\n`;

describe("a connection that carries calls", () => {
  it("answers one after the other, with progress, however the bytes come", async () => {
    const { send, next } = await open();
    const text = call("createWorkspace", { name: "first" });
    send(text.slice(0, 9));
    await new Promise(setImmediate);
    send(text.slice(9));
    expect(await next()).toEqual({ progress: { step: "one" } });
    expect(await next()).toEqual({ result: { name: "first" } });
    send(call("listWorkspaces"));
    expect(await next()).toEqual({ result: { count: 0, workspaces: [] } });
  });

  it("answers what is wrong with a call, and goes on with the next", async () => {
    const { send, next } = await open();
    for (const bad of [
      "no json\n",
      "[]\n",
      "{}\n",
      call("toString"),
      call("streamWorkspace", { workspace_id: "w", command: "x" }),
      call("listWorkspaces", { more: 1 }),
    ]) {
      send(bad);
      expect(await next()).toMatchObject({ error: { code: "INVALID_ARGUMENT" } });
    }
    send(call("listWorkspaces"));
    expect(await next()).toMatchObject({ result: { count: 0 } });
  });

  it("tells another version so, but not about the daemon itself", async () => {
    const { send, next } = await open("9.9.9");
    send(call("listWorkspaces"));
    expect(await next()).toMatchObject({ error: { code: "DAEMON_VERSION" } });
    send(call("daemonStatus"));
    expect(await next()).toEqual({ result: { running: true } });
  });

  it("ends a call when the client goes", async () => {
    const { send, socket } = await open();
    const wasAborted = new Promise<void>((resolve) => (aborted = resolve));
    send(call("execWorkspace", { workspace_id: "w", command: "x" }));
    while (inFlight.count === 0) await new Promise(setImmediate);
    socket.destroy();
    await wasAborted;
    await inFlight.empty(1000);
    expect(inFlight.count).toBe(0);
  });

  it("refuses a second call before the first is answered, and one that is too large, and ends", async () => {
    const busy = await open();
    busy.send(call("execWorkspace", { workspace_id: "w", command: "x" }));
    busy.send(call("listWorkspaces"));
    expect(await busy.next()).toMatchObject({ error: { code: "INVALID_ARGUMENT" } });
    await once(busy.socket, "close");

    const large = await open();
    large.send("x".repeat(MAX_BODY_BYTES + 1));
    expect(await large.next()).toMatchObject({ error: { code: "INVALID_ARGUMENT" } });
    await once(large.socket, "close");
  });

  it("says that it has not begun when the daemon is ending", async () => {
    const { send, next } = await open();
    await inFlight.settle(new Set(), 10);
    send(call("listWorkspaces"));
    expect(await next()).toEqual({ refused: true });
  });

  it("is there under its own name only", async () => {
    const headers = { connection: "Upgrade", upgrade: CALLS_PROTOCOL };
    const request = httpRequest({ socketPath: join(folder, "daemon.sock"), path: "/v1/other", headers }).end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(400);
  });
});
