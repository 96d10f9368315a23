import { createHash, randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { TestProxy, Upstream } from "../../../test/helpers/egress-proxy.ts";
import type { BudgetOrder } from "../../model/budget.ts";
import type { GateAnswer } from "../../model/gate-control.ts";
import { RunBudget } from "../supervise/run-budget.ts";
import { SuperviseGate } from "../supervise/supervise-gate.ts";
import { FrameReader, frame } from "./web-socket-frames.ts";

const HOST = "api.example.test";
const [TEXT, CLOSE, PING] = [1, 8, 9];
const ASK = JSON.stringify({ type: "response.create", input: "hello" });
const usage = (input: number, output: number) => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
});

/** Each message that comes, whole. */
function messages(socket: Duplex, take: (opcode: number, text: string) => void): void {
  let head = { opcode: 0, isFinal: true };
  let kind = 0;
  const parts: Buffer[] = [];
  const reader = new FrameReader({
    head: (next) => {
      head = next;
      if (head.opcode !== 0) kind = head.opcode;
    },
    payload(bytes, isLast) {
      parts.push(Buffer.from(bytes));
      if (!isLast || !head.isFinal) return;
      take(kind, Buffer.concat(parts.splice(0)).toString("latin1"));
    },
  });
  socket.on("data", (chunk: Buffer) => reader.push(chunk));
}

describe("a model's WebSocket", () => {
  let upstream: Upstream;
  let proxy: TestProxy;
  let supervise: SuperviseGate;
  let budget: RunBudget;
  let received: string[] = [];
  let server: Duplex;

  beforeAll(async () => {
    upstream = await new Upstream().listen([HOST], { alpn: false });
    upstream.secure.on("upgrade", (request, socket) => {
      server = socket;
      const key = `${request.headers["sec-websocket-key"] ?? ""}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = createHash("sha1").update(key).digest("base64");
      const lines = ["Upgrade: websocket", "Connection: Upgrade", `Sec-WebSocket-Accept: ${accept}`];
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("\r\n")}\r\n\r\n`);
      socket.on("error", () => undefined);
      messages(socket, (opcode, text) => {
        if (opcode === TEXT) received.push(text);
      });
    });
    proxy = await new TestProxy({ routes: [upstream.route(HOST, { provider: "openai" })] }).listen();
  });

  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  afterEach(() => {
    budget.close();
    received = [];
    proxy.events.length = 0;
  });

  function limit(limits: BudgetOrder["limits"], waitMs = 5000): void {
    supervise = new SuperviseGate({ onNew: () => undefined, onChange: () => undefined });
    budget = new RunBudget({ supervise, onNear: () => undefined, waitMs });
    proxy.gate.budget = budget;
    proxy.gate.events.onUsage = (told, isCounted) => budget.count(told, isCounted);
    give(limits);
  }

  const give = (limits: BudgetOrder["limits"]): void => {
    budget.order = { limits, used: { model_tokens: 0, model_requests: 0 }, started_at: Date.now() / 1000 };
  };

  const decide = (status: GateAnswer["status"]): void => {
    const rest = { status, reason: null, proposed: null, scope: null, valid_until: null };
    supervise.hear(supervise.asks.unanswered.map(({ ask_id }) => ({ ask_id, proposal_id: ask_id, ...rest })));
  };

  async function open(path = "/v1/responses"): Promise<{ socket: Socket; heard: [number, string][] }> {
    const socket = await proxy.secure(HOST);
    const key = randomBytes(16).toString("base64");
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    );
    const head = await new Promise<string>((done) => socket.once("data", (chunk: Buffer) => done(chunk.toString())));
    expect(head).toMatch(/^HTTP\/1\.1 101 /);
    const heard: [number, string][] = [];
    messages(socket, (opcode, text) => heard.push([opcode, text]));
    return { socket, heard };
  }

  const says = (...texts: string[]): Buffer =>
    Buffer.concat(texts.map((text) => frame(TEXT, Buffer.from(text), { isMasked: true })));

  /** In several frames, with a ping between them, byte by byte. */
  function answer(input: number, output: number): void {
    const told = { type: "response.completed", response: { usage: { input_tokens: input, output_tokens: output } } };
    const bytes = Buffer.from(JSON.stringify(told));
    const all = Buffer.concat([
      frame(TEXT, Buffer.from('{"type":"response.created","response":{"usage":null}}')),
      frame(TEXT, bytes.subarray(0, 60), { isFinal: false }),
      frame(PING, Buffer.from("still there?")),
      frame(0, bytes.subarray(60)),
    ]);
    for (const byte of all) server.write(Buffer.from([byte]));
  }

  it("has its tokens told with each answer, and none is counted twice", async () => {
    limit({ model_tokens: 1000 });
    const { socket } = await open();
    socket.write(says(ASK));
    await expect.poll(() => received).toEqual([ASK]);
    answer(11, 22);
    await expect.poll(() => proxy.events.map(({ model_usage: told }) => told)).toEqual([usage(11, 22)]);
    const [first] = proxy.events;
    expect(first).toMatchObject({ kind: "egress.request", status: 101, path: "/v1/responses", is_logged: true });
    expect(first?.bytes_sent).toBe(says(ASK).length);
    answer(1, 2);
    socket.end();
    await expect
      .poll(() => proxy.events.map(({ model_usage: told }) => told))
      .toEqual([usage(11, 22), usage(1, 2), null]);
    expect(proxy.events.slice(1).map((event) => event.bytes_sent)).toEqual([0, 0]);
  });

  it("has none on a path of no model", async () => {
    limit({ model_requests: 1 });
    const { socket } = await open("/chat");
    socket.write(says(ASK, ASK));
    await expect.poll(() => received).toEqual([ASK, ASK]);
    answer(11, 22);
    socket.end();
    await expect.poll(() => proxy.events.map(({ model_usage: told }) => told)).toEqual([null]);
  });

  it("G-131 asks no more than the run may, also when questions come at once, and goes on when there is more", async () => {
    limit({ model_requests: 2 });
    const { socket } = await open();
    const large = JSON.stringify({ input: "x".repeat(300_000), type: "response.create" });
    socket.write(says(ASK, ASK, large, ASK));
    await expect.poll(() => supervise.asks.unanswered.length).toBe(1);
    expect(received).toEqual([ASK, ASK]);
    give({ model_requests: 3 });
    decide("approved");
    await expect.poll(() => received).toEqual([ASK, ASK, large]);
    await expect.poll(() => supervise.asks.unanswered.length).toBe(1);
    give({ model_requests: 9 });
    decide("approved");
    await expect.poll(() => received).toEqual([ASK, ASK, large, ASK]);
    // What comes later is read again.
    socket.write(says(ASK));
    await expect.poll(() => received.length).toBe(5);
    socket.destroy();
  });

  it.each(["/v1/responses", "/chat"])(
    "G-131 is over with the reason when tokens are used up and nobody gives more, at %s",
    async (path) => {
      limit({ model_tokens: 30 }, 1);
      const { socket, heard } = await open(path);
      budget.count(usage(11, 22));
      socket.write(says("any message"));
      await expect.poll(() => heard.map(([opcode]) => opcode)).toEqual([TEXT, CLOSE]);
      const told = JSON.parse(heard[0]?.[1] ?? "") as unknown;
      expect(told).toMatchObject({ type: "error", status: 429, error: { code: "BUDGET_USED_UP" } });
      expect(Buffer.from(heard[1]?.[1] ?? "", "latin1").readUInt16BE()).toBe(1008);
      await expect.poll(() => proxy.events.map(({ kind }) => kind)).toContain("egress.denied");
      expect(received).toEqual([]);
    },
  );

  it("G-131 counts tokens of its own answers against what the run may use", async () => {
    limit({ model_tokens: 30 }, 1);
    const { socket, heard } = await open();
    socket.write(says(ASK));
    await expect.poll(() => received.length).toBe(1);
    answer(11, 22);
    await expect.poll(() => budget.isUsedUp).toBe(true);
    socket.write(says(ASK));
    await expect.poll(() => heard.at(-1)?.[0]).toBe(CLOSE);
    expect(received).toEqual([ASK]);
  });
});
