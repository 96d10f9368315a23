import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../base/log.ts";
import { failure } from "../model/error-codes.ts";
import type { ExecResult } from "../model/exec.ts";
import type { Shell } from "../model/shell.ts";
import { decodeStreamFrames, FRAME, type StreamFrame } from "../model/stream-frames.ts";
import { DAEMON_STOPPING } from "../workspaces/caller-leaves.ts";
import type { DaemonHandlers, Handlers } from "./handlers.ts";
import { InFlight } from "./in-flight.ts";
import { Admission } from "./admission.ts";
import { Connections } from "./connections.ts";
import { createApiServer, type ApiServer } from "./server.ts";
import { listenPrivately } from "./socket.ts";

let folder: string;
let api: ApiServer;
let inFlight: InFlight;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-server-"));
});
afterEach(async () => {
  api.closeAllConnections();
  api.server.close();
  await once(api.server, "close");
  rmSync(folder, { recursive: true });
});

const socket = () => join(folder, "daemon.sock");

async function serve(handlers: Partial<Handlers & DaemonHandlers>): Promise<void> {
  inFlight = new InFlight(() => undefined);
  const all = handlers as Handlers & DaemonHandlers;
  api = createApiServer({
    handlers: all,
    version: "1.2.3",
    inFlight,
    log: silentLog,
    connections: new Connections(),
    admission: new Admission(),
  });
  await listenPrivately(api.server, socket());
}

function post(operation: string, version: string | undefined = "1.2.3", method = "POST"): ClientRequest {
  const headers = version === "" ? {} : { "x-cloche-version": version };
  return httpRequest({ socketPath: socket(), method, path: `/v1/${operation}`, headers });
}

async function ask(request: ClientRequest, body: string): Promise<{ status: number; lines: unknown[] }> {
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response) text += String(chunk);
  const lines = text.trim().split("\n");
  return { status: response.statusCode!, lines: lines.map((line) => JSON.parse(line) as unknown) };
}

const result = { workspace_id: "ws-1", sequence: 1, exit_code: 0 } as ExecResult;
const command = `${JSON.stringify({ workspace_id: "ws-1", command: "x", stdin: true })}\n`;

describe("calls", () => {
  it("are answered with lines of progress and the result", async () => {
    await serve({
      createWorkspace: (_input, { progress }) => {
        progress({ step: "one", fraction: 0.5 });
        return Promise.resolve({ workspace_id: "ws-1" } as never);
      },
    });
    const { status, lines } = await ask(post("createWorkspace"), '{"name":"a"}');
    expect(status).toBe(200);
    expect(lines).toEqual([{ progress: { step: "one", fraction: 0.5 } }, { result: { workspace_id: "ws-1" } }]);
  });

  it("that fail have the status of their code, with hint and details; after progress the status is 200", async () => {
    const error = failure("WORKSPACE_NOT_FOUND", "No such workspace", { details: { a: 1 } });
    await serve({
      statusWorkspace: () => Promise.reject(error),
      createWorkspace: (_input, { progress }) => {
        progress({ step: "one" });
        return Promise.reject(failure("DISK_FULL", "Full"));
      },
    });
    const plain = await ask(post("statusWorkspace"), '{"workspace_id":"x"}');
    expect(plain.status).toBe(404);
    expect(plain.lines).toEqual([
      {
        error: {
          code: "WORKSPACE_NOT_FOUND",
          message: "No such workspace",
          hint: "See `cloche workspace list` for the ids there are",
          advice: [["See ", { operation: "listWorkspaces", arguments: {} }, " for the ids there are"]],
          details: { a: 1 },
        },
      },
    ]);
    const late = await ask(post("createWorkspace"), "");
    expect(late.status).toBe(200);
    expect(late.lines[1]).toMatchObject({ error: { code: "DISK_FULL" } });
  });

  it("that throw what nobody foresaw are INTERNAL, a full disk is DISK_FULL, and the next call is served", async () => {
    await serve({
      doctor: () => {
        throw new TypeError("oops");
      },
      listEnvironments: () => Promise.reject(Object.assign(new Error("write"), { code: "ENOSPC" })),
      listWorkspaces: () => Promise.resolve({ count: 0, workspaces: [] }),
    });
    expect(await ask(post("doctor"), "")).toMatchObject({ status: 500, lines: [{ error: { code: "INTERNAL" } }] });
    expect(await ask(post("listEnvironments"), "")).toMatchObject({ status: 507 });
    expect(await ask(post("listWorkspaces"), "")).toMatchObject({ status: 200 });
  });

  it("with a bad input, of an unknown name or method are refused before anything begins", async () => {
    let begun = 0;
    await serve({ statusWorkspace: () => Promise.resolve(++begun as never) });
    const bad = await ask(post("statusWorkspace"), '{"workspace_id":"x","y":1}');
    expect(bad).toMatchObject({ status: 400, lines: [{ error: { code: "INVALID_ARGUMENT" } }] });
    expect(await ask(post("toString"), "{}")).toMatchObject({ status: 400 });
    expect(await ask(post("statusWorkspace", "1.2.3", "GET"), "")).toMatchObject({ status: 400 });
    expect(begun).toBe(0);
  });

  it("of another version get DAEMON_VERSION, but may ask for the status and the end", async () => {
    await serve({
      listWorkspaces: () => Promise.resolve({ count: 0, workspaces: [] }),
      daemonStatus: () => Promise.resolve({ running: true } as never),
      stopDaemon: () => Promise.resolve({ stopped: true }),
    });
    for (const version of ["1.2.4", ""]) {
      const refused = await ask(post("listWorkspaces", version), "");
      expect(refused).toMatchObject({ status: 409, lines: [{ error: { code: "DAEMON_VERSION" } }] });
      expect(await ask(post("daemonStatus", version), "")).toMatchObject({ status: 200 });
      expect(await ask(post("stopDaemon", version), "")).toMatchObject({ status: 200 });
    }
  });

  it("are aborted when their client goes away", async () => {
    let begun!: () => void;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    let aborted!: () => void;
    const wasAborted = new Promise<void>((resolve) => (aborted = resolve));
    await serve({
      execWorkspace: async (_input, { signal }) => {
        signal.addEventListener("abort", aborted);
        begun();
        await wasAborted;
        throw new Error("ended");
      },
    });
    const request = post("execWorkspace");
    request.on("error", () => undefined);
    request.end('{"workspace_id":"x","command":"y"}');
    await hasBegun;
    expect(inFlight.count).toBe(1);
    request.destroy();
    await wasAborted;
    await inFlight.empty(1000);
    expect(inFlight.count).toBe(0);
  });

  it("larger than the cap are refused", async () => {
    await serve({ listWorkspaces: () => Promise.resolve({ count: 0, workspaces: [] }) });
    const request = post("listWorkspaces");
    const answer = once(request, "response") as Promise<[IncomingMessage]>;
    const chunk = Buffer.alloc(8 * 1024 * 1024, 32);
    for (let count = 0; count < 13; count++) request.write(chunk);
    request.end();
    const sent = once(request, "finish");
    const [response] = await answer;
    expect(response.statusCode).toBe(400);
    await sent;
    response.resume();
    await once(response, "end");
  });
});

describe("streams", () => {
  it("carry bytes both ways at once", async () => {
    await serve({
      streamWorkspace: async (_input, { emit, stdin }) => {
        emit.started({ workspace_id: "ws-1", sequence: 4 });
        for await (const chunk of stdin!) await emit.stdout(chunk);
        await emit.stderr(Buffer.from([0, 255]));
        return result;
      },
    });
    const request = post("streamWorkspace");
    // The first line and the first bytes of input in one piece.
    request.write(`${command}first`);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const frames = decodeStreamFrames(response);
    const next = async () => (await frames.next()).value as StreamFrame;
    expect(await next()).toMatchObject({ type: FRAME.started });
    expect((await next()).payload.toString()).toBe("first");
    request.write("second");
    expect((await next()).payload.toString()).toBe("second");
    request.end();
    expect(await next()).toEqual({ type: FRAME.stderr, payload: Buffer.from([0, 255]) });
    expect(JSON.parse((await next()).payload.toString())).toEqual(result);
    expect((await frames.next()).done).toBe(true);
  });

  it("of a shell always take input, and end with the shell", async () => {
    const shell = { workspace_id: "ws-1", shell_id: "sh-1", state: "running" } as Shell;
    await serve({
      attachShell: async (_input, { emit, stdin }) => {
        emit.started({ workspace_id: "ws-1", shell_id: "sh-1" });
        for await (const chunk of stdin!) await emit.stdout(chunk);
        return shell;
      },
    });
    const request = post("attachShell");
    request.write(`${JSON.stringify({ workspace_id: "ws-1", shell_id: "sh-1", cols: 80, rows: 24 })}\nls`);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    request.end();
    const frames: StreamFrame[] = [];
    for await (const frame of decodeStreamFrames(response)) frames.push(frame);
    expect(frames.map((frame) => frame.type)).toEqual([FRAME.started, FRAME.stdout, FRAME.exit]);
    expect(JSON.parse(frames[0]!.payload.toString())).toEqual({ workspace_id: "ws-1", shell_id: "sh-1" });
    expect(frames[1]!.payload.toString()).toBe("ls");
    expect(JSON.parse(frames[2]!.payload.toString())).toEqual(shell);
  });

  it("end with the command, whether or not it read its input", async () => {
    await serve({
      streamWorkspace: (_input, { emit }) => {
        emit.started({ workspace_id: "ws-1", sequence: 4 });
        return Promise.resolve(result);
      },
    });
    const request = post("streamWorkspace");
    request.on("error", () => undefined);
    request.write(command);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const types = [];
    for await (const frame of decodeStreamFrames(response)) types.push(frame.type);
    expect(types).toEqual([FRAME.started, FRAME.exit]);
    request.destroy();
  });

  it("wait for a client that does not read", async () => {
    let sent = 0;
    await serve({
      streamWorkspace: async (_input, { emit, signal }) => {
        emit.started({ workspace_id: "ws-1", sequence: 4 });
        while (!signal.aborted) {
          await emit.stdout(Buffer.alloc(65536));
          sent += 65536;
        }
        throw new Error("gone");
      },
    });
    const request = post("streamWorkspace");
    request.on("error", () => undefined);
    request.end(command);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    response.pause();
    // Held up for good: nothing more is sent between two looks a moment apart.
    let before = -1;
    while (sent !== before) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(sent).toBeLessThan(8 * 1024 * 1024);
    request.destroy();
    await inFlight.empty(2000);
    expect(inFlight.count).toBe(0);
  });

  it("take a client that left for an error of the input, not for its end", async () => {
    let seen: unknown;
    let done!: () => void;
    const isDone = new Promise<void>((resolve) => (done = resolve));
    await serve({
      streamWorkspace: async (_input, { emit, stdin }) => {
        emit.started({ workspace_id: "ws-1", sequence: 4 });
        try {
          for await (const chunk of stdin!) await emit.stdout(chunk);
          seen = "end";
        } catch (error) {
          seen = error;
        }
        done();
        return result;
      },
    });
    const request = post("streamWorkspace");
    request.on("error", () => undefined);
    request.write(`${command}half`);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    response.on("error", () => undefined);
    request.destroy();
    await isDone;
    expect(seen).toMatchObject({ code: "CANCELLED" });
  });

  it("that fail before their first frame are an ordinary error, later an error frame", async () => {
    await serve({
      streamWorkspace: () => Promise.reject(failure("WORKSPACE_NOT_RUNNING", "No")),
      attachCommand: async (_input, { emit }) => {
        await emit.stdout(Buffer.from("x"));
        throw failure("SANDBOX_LOST", "Lost");
      },
    });
    expect(await ask(post("streamWorkspace"), command)).toMatchObject({
      status: 409,
      lines: [{ error: { code: "WORKSPACE_NOT_RUNNING" } }],
    });
    const request = post("attachCommand");
    request.end(JSON.stringify({ workspace_id: "x", sequence: 1, stdout_offset: 0, stderr_offset: 0 }));
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const frames = [];
    for await (const frame of decodeStreamFrames(response)) frames.push(frame);
    expect(frames.map((frame) => frame.type)).toEqual([FRAME.stdout, FRAME.error]);
    expect(JSON.parse(frames[1]!.payload.toString())).toMatchObject({ error: { code: "SANDBOX_LOST" } });
  });
});

it("stopping ends streams without a word, aborts calls after the grace, and begins nothing new", async () => {
  const reasons: unknown[] = [];
  let hasBegun!: () => void;
  const begun = new Promise<void>((resolve) => (hasBegun = resolve));
  const hang = async (signal: AbortSignal): Promise<never> => {
    await once(signal, "abort");
    reasons.push(signal.reason);
    throw new Error("aborted");
  };
  await serve({
    execWorkspace: (_input, { signal }) => (hasBegun(), hang(signal)),
    streamWorkspace: (_input, { signal, emit }) => {
      emit.started({ workspace_id: "ws-1", sequence: 1 });
      return hang(signal);
    },
  });
  const stream = post("streamWorkspace");
  stream.end(command);
  const [response] = (await once(stream, "response")) as [IncomingMessage];
  const frames = decodeStreamFrames(response);
  expect((await frames.next()).value).toMatchObject({ type: FRAME.started });
  const cut = expect(frames.next()).rejects.toThrow("aborted");
  const answer = ask(post("execWorkspace"), '{"workspace_id":"x","command":"y"}');
  await begun;

  const settled = inFlight.settle(new Set(), 200);
  const refused = post("execWorkspace");
  refused.end('{"workspace_id":"x","command":"y"}');
  let taken = false;
  refused.on("information", () => (taken = true));
  await expect(once(refused, "response")).rejects.toThrow();
  expect(taken).toBe(false);

  await cut;
  expect(await answer).toMatchObject({ status: 503, lines: [{ error: { code: "DAEMON_UNREACHABLE" } }] });
  await settled;
  expect(reasons).toEqual([DAEMON_STOPPING, DAEMON_STOPPING]);
});
