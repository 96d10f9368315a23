import { type AddressInfo, createServer, type Server } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentEvent } from "../../model/gate-control.ts";
import type { GateRoute } from "../../model/egress-order.ts";
import { type AskAnswer, type Asked, AskRefused } from "./asks.ts";
import type { AgentDesk } from "./call-agent-tool.ts";
import { DoneSignals } from "./done-signals.ts";
import { LastRefusals } from "./last-refusals.ts";
import { SuperviseDoor } from "./supervise-door.ts";

const PENDING: AskAnswer = {
  proposal_id: "p-0000000001",
  status: "pending",
  reason: null,
  proposed: null,
  scope: null,
};
const ROUTE: GateRoute = {
  host: "kept.example.test",
  ports: [443],
  connect: "127.0.0.1:8443",
  ca: "PEM",
  tls: "intercept",
  matches: [{ methods: ["GET"] }],
  credentials: [
    {
      name: "MY_TOKEN",
      token: "sk-real",
      scheme: "Bearer",
      header: null,
      query: null,
      renewable: false,
      problem: null,
    },
  ],
  pass: [],
  dlp: { outbound_detectors: null, inbound_detectors: [], outbound_on_match: "block" },
  provider: null,
};
const STATELESS = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

describe("the supervise door", () => {
  let server: Server;
  let raised: Asked[];
  let told: AgentEvent[];
  let decide: (answer: Partial<AskAnswer>) => void;
  let waiting: number;
  let canChangeEnvironment: boolean;
  let waitMs: number;

  beforeEach(async () => {
    [raised, told, waiting, canChangeEnvironment, waitMs] = [[], [], 0, true, 200];
    const decided = new Promise<AskAnswer>((done) => (decide = (answer) => done({ ...PENDING, ...answer })));
    const asks: AgentDesk["asks"] = {
      raise: (ask) => {
        if (raised.length >= 1000) throw new AskRefused("there are too many");
        raised.push(ask);
        return PENDING.proposal_id;
      },
      wait: async (_id, ms, gone) => {
        waiting++;
        const over = new Promise<AskAnswer>((done) => {
          const timer = setTimeout(() => done(PENDING), ms);
          gone?.addEventListener("abort", () => {
            clearTimeout(timer);
            done(PENDING);
          });
        });
        try {
          return await Promise.race([decided, over]);
        } finally {
          waiting--;
        }
      },
    };
    const refusals = new LastRefusals();
    refusals.add({ method: "GET", host: "docs.example.com", port: 443, path: "/x" });
    const done = new DoneSignals((event) => void told.push(event));
    const desk = { asks, routes: () => [ROUTE], refusals, done };
    const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    const door = new SuperviseDoor(log, {
      desk,
      get waitMs() {
        return waitMs;
      },
    });
    server = createServer((socket) => void door.accept(socket, canChangeEnvironment));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  });

  afterEach(() => void server.close());

  const send = async (body: string | Buffer, { headers = {}, path = "/mcp", method = "POST" } = {}) => {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { "content-type": "application/json", connection: "close", ...headers },
      ...(method === "POST" && { body }),
    });
    const text = await response.text();
    return { status: response.status, body: (text === "" ? undefined : JSON.parse(text)) as Answer };
  };
  const rpc = async (method: string, params: object = {}, headers: object = {}) =>
    await send(JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }), { headers });
  const call = async (name: string, args: unknown) =>
    (await rpc("tools/call", { name, arguments: args })).body.result ?? {};

  describe("speaks both current manners of the protocol", () => {
    it("with a handshake, in the revision of the client or else the newest", async () => {
      const open = async (protocolVersion: string) => (await rpc("initialize", { protocolVersion })).body.result;
      expect(await open("2025-06-18")).toMatchObject({ protocolVersion: "2025-06-18", capabilities: { tools: {} } });
      expect(await open("1999-01-01")).toMatchObject({ protocolVersion: "2025-11-25" });
      expect((await open("2025-06-18"))?.["serverInfo"]).toMatchObject({ name: "cloche-supervise" });
      const notice = await send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
      expect(notice).toEqual({ status: 202, body: undefined });
      expect((await rpc("ping")).body.result).toEqual({});
    });

    it("without one, where each request says all that it needs", async () => {
      const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "server/discover" };
      const { body } = await rpc("server/discover", { _meta: STATELESS }, headers);
      expect(body.result).toMatchObject({ resultType: "complete", supportedVersions: ["2026-07-28"], ttlMs: 300_000 });
      const listed = await rpc("tools/list", { _meta: STATELESS }, { ...headers, "mcp-method": "tools/list" });
      expect(listed.body.result).toMatchObject({ resultType: "complete", cacheScope: "private" });
    });

    it.each([
      ["a header that is missing", {}, -32_020],
      ["another method in the header", { "mcp-protocol-version": "2026-07-28", "mcp-method": "ping" }, -32_020],
      ["another revision in the header", { "mcp-protocol-version": "2025-11-25" }, -32_020],
    ])("and refuses %s", async (_what, headers, code) => {
      const { status, body } = await rpc("tools/list", { _meta: STATELESS }, headers);
      expect([status, body.error?.code]).toEqual([400, code]);
    });

    it("and says which revisions there are", async () => {
      const meta = { ...STATELESS, "io.modelcontextprotocol/protocolVersion": "2031-01-01" };
      const { status, body } = await rpc("tools/list", { _meta: meta });
      expect([status, body.error]).toMatchObject([400, { code: -32_022, data: { supported: ["2026-07-28"] } }]);
      expect((await rpc("tools/list", {}, { "mcp-protocol-version": "banana" })).body.error?.code).toBe(-32_022);
    });
  });

  it("has no other methods, and no other tools", async () => {
    for (const method of ["no/such", "resources/list", "constructor", "server/discover"])
      expect((await rpc(method)).body.error?.code).toBe(-32_601);
    for (const name of ["no-such-tool", "dlp-allow", "push-allow", "__proto__"])
      expect((await rpc("tools/call", { name, arguments: {} })).body.error?.code).toBe(-32_602);
  });

  it("lists tools with schemas and descriptions", async () => {
    const { tools } = (await rpc("tools/list")).body.result as { tools: { name: string; inputSchema: object }[] };
    expect(tools.map(({ name }) => name)).toEqual([
      "egress-block",
      "capability-block",
      "list-egress-routes",
      "signal-done",
    ]);
    for (const tool of tools) expect(tool.inputSchema).toMatchObject({ type: "object", additionalProperties: false });
  });

  it("G-107 does not offer a change of the environment where there can be none", async () => {
    canChangeEnvironment = false;
    const { tools } = (await rpc("tools/list")).body.result as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(["egress-block", "list-egress-routes", "signal-done"]);
    const asked = { name: "capability-block", arguments: { packages: ["jq"], justification: "why" } };
    expect((await rpc("tools/call", asked)).body.error?.code).toBe(-32_602);
    expect(raised).toEqual([]);
  });

  describe("a call that asks", () => {
    const ask = { routes: [{ host: "Docs.Example.com." }], justification: "to read about it" };

    it("is a proposal, and returns the decision", async () => {
      const answer = call("egress-block", ask);
      await expect.poll(() => waiting).toBe(1);
      decide({ status: "approved", scope: "run" });
      expect((await answer).structuredContent).toMatchObject({
        status: "approved",
        proposal_id: PENDING.proposal_id,
        next_step: "Send the request again.",
      });
      expect(raised).toEqual([
        {
          kind: "egress-block",
          justification: ask.justification,
          proposed: { routes: [{ host: "docs.example.com" }] },
          command: "GET docs.example.com:443/x, which was refused",
        },
      ]);
    });

    it("tells why it was rejected, and what the operator changed", async () => {
      decide({ status: "rejected", reason: "not today" });
      const { structuredContent, isError } = await call("egress-block", ask);
      expect(structuredContent).toMatchObject({ status: "rejected", reason: "not today" });
      expect(isError).toBeUndefined();
    });

    it("ends as pending, which is no error", async () => {
      const { structuredContent, isError } = await call("capability-block", { packages: ["jq"], justification: "why" });
      expect(structuredContent).toMatchObject({ status: "pending" });
      expect((structuredContent as { next_step: string }).next_step).toMatch(/capability-block again/);
      expect(isError).toBeUndefined();
      expect(raised[0]).toMatchObject({ kind: "capability-block", proposed: { packages: ["jq"] } });
    });

    it("stops waiting when its client goes away", async () => {
      const { port } = server.address() as AddressInfo;
      const leave = new AbortController();
      const body = JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "egress-block", arguments: ask },
      });
      const headers = { "content-type": "application/json" };
      const gone = fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST", body, headers, signal: leave.signal });
      await expect.poll(() => waiting).toBe(1);
      leave.abort();
      await expect(gone).rejects.toThrow();
      await expect.poll(() => waiting, { interval: 5 }).toBe(0);
    });
  });

  it.each([
    ["connect", { connect: "127.0.0.1:22" }],
    ["ca", { ca: "/etc/passwd" }],
    ["auth", { auth: { scheme: "Bearer", token_ref: "X" } }],
    ["tls", { tls: "passthrough" }],
    ["secrets", { secrets: ["X"] }],
    ["dlp", { dlp: { outbound_detectors: [] } }],
  ])("G-105 an agent cannot ask for %s", async (key, more) => {
    const routes = [{ host: "a.example.com" }, { host: "docs.example.com", ...more }];
    const { structuredContent, isError } = await call("egress-block", { routes, justification: "why" });
    expect(isError).toBe(true);
    expect(structuredContent).toMatchObject({
      error: { code: "INVALID_ARGUMENT", message: `"routes.1.${key}" is for the operator alone` },
    });
    expect(raised).toEqual([]);
  });

  it.each([
    ["no arguments", {}],
    ["no justification", { routes: [{ host: "a.example.com" }] }],
    ["an empty justification", { routes: [{ host: "a.example.com" }], justification: " \n" }],
    ["no route", { routes: [], justification: "why" }],
    ["too many routes", { routes: Array.from({ length: 17 }, (_, n) => ({ host: `h${n}.io` })), justification: "w" }],
    ["a host twice", { routes: [{ host: "a.io" }, { host: "A.io" }], justification: "why" }],
    ["an address", { routes: [{ host: "10.0.0.1" }], justification: "why" }],
    ["localhost", { routes: [{ host: "localhost" }], justification: "why" }],
    ["half of the world", { routes: [{ host: "*.com" }], justification: "why" }],
    ["every host", { routes: [{ host: "*" }], justification: "why" }],
    ["a port that is none", { routes: [{ host: "a.io", ports: [0] }], justification: "why" }],
    ["an empty match", { routes: [{ host: "a.io", matches: [{}] }], justification: "why" }],
    [
      "a broken pattern",
      { routes: [{ host: "a.io", matches: [{ paths: [{ type: "regex", value: "(" }] }] }], justification: "w" },
    ],
    ["a key that nobody knows", { routes: [{ host: "a.io", headers: {} }], justification: "why" }],
    ["a long justification", { routes: [{ host: "a.io" }], justification: "x".repeat(4097) }],
  ])("says what is wrong with %s", async (_what, args) => {
    const { structuredContent, isError } = await call("egress-block", args);
    expect(isError).toBe(true);
    const { error } = structuredContent as { error: { message: string; hint: string } };
    expect(error.message.length).toBeGreaterThan(5);
    expect(error.hint.length).toBeGreaterThan(5);
    expect(raised).toEqual([]);
  });

  it("G-106 shows what can be reached without a credential, an address or a file", async () => {
    const { structuredContent } = await call("list-egress-routes", {});
    expect(structuredContent).toMatchObject({
      count: 1,
      routes: [{ host: "kept.example.test", ports: [443], matches: [{ methods: ["GET"] }], has_credential: true }],
    });
    expect(JSON.stringify(structuredContent)).not.toMatch(/sk-real|MY_TOKEN|8443|PEM/);
  });

  it("tells the operator that the work is done", async () => {
    expect((await call("signal-done", { summary: "all done" })).structuredContent).toMatchObject({ status: "told" });
    await call("signal-done", { summary: "all done" });
    expect(told).toEqual([{ kind: "run.done", summary: "all done" }]);
    const many = await Promise.all(Array.from({ length: 20 }, (_, n) => call("signal-done", { summary: `done ${n}` })));
    expect(many.filter(({ isError }) => isError)).toHaveLength(5);
    expect(told).toHaveLength(16);
  });

  it("says that the operator is not asked", async () => {
    raised.length = 1000;
    const { structuredContent, isError } = await call("egress-block", {
      routes: [{ host: "a.io" }],
      justification: "w",
    });
    expect([isError, structuredContent]).toMatchObject([true, { error: { code: "ASK_REFUSED" } }]);
  });

  describe("G-106 takes hostile messages", () => {
    const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

    it.each([
      ["no JSON", "{", 400, -32_700],
      ["nothing", "", 400, -32_700],
      ["bytes that are no text", Buffer.from([0x22, 0xff, 0x22]), 400, -32_700],
      ["a list", "[]", 400, -32_600],
      ["a number", "7", 400, -32_600],
      ["another protocol", '{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32_600],
      ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32_600],
      ["an id that is null", '{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32_600],
      ["a method that is a list", '{"jsonrpc":"2.0","id":1,"method":["ping"]}', 400, -32_600],
      ["params that are a list", '{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', 400, -32_600],
      ["a long id", `{"jsonrpc":"2.0","id":"${"x".repeat(300)}","method":"ping"}`, 400, -32_600],
      ["more than it may have", `"${"x".repeat(300_000)}"`, 413, -32_600],
    ])("%s", async (_what, body, status, code) => {
      const answer = await send(body);
      expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
    });

    it("one that is deep", async () => {
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"egress-block","arguments":${deep(20_000)}}}`;
      expect((await send(body)).body.result?.isError).toBe(true);
    });

    it("one that means every object's own fields", async () => {
      const body =
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"egress-block","arguments":{"__proto__":{"routes":[{"host":"a.io"}],"justification":"x"}}}}';
      expect((await send(body)).body.result?.isError).toBe(true);
      expect(raised).toEqual([]);
    });

    it("and refuses what is no message", async () => {
      expect((await send("", { method: "GET" })).status).toBe(405);
      expect((await send("", { method: "DELETE" })).status).toBe(405);
      expect((await send("{}", { path: "/other" })).status).toBe(404);
      expect((await send("{}", { headers: { "content-type": "text/plain" } })).status).toBe(415);
      expect((await send("{}", { headers: { origin: "http://evil.example" } })).status).toBe(403);
      expect((await send("{}", { headers: { origin: "http://localhost:9100" } })).status).toBe(400);
    });

    it("and no more at once than it can bear", async () => {
      waitMs = 60_000;
      let answered = 0;
      const ask = { routes: [{ host: "a.io" }], justification: "why" };
      const calls = Array.from({ length: 40 }, () =>
        rpc("tools/call", { name: "egress-block", arguments: ask }).then(({ status }) => {
          answered++;
          return status;
        }),
      );
      await expect.poll(() => waiting, { timeout: 30_000 }).toBe(32);
      await expect.poll(() => answered, { timeout: 30_000 }).toBe(8);
      decide({ status: "rejected", reason: "too many" });
      const statuses = await Promise.all(calls);
      expect(statuses.filter((status) => status === 200)).toHaveLength(32);
      expect(statuses.filter((status) => status === 503)).toHaveLength(8);
      expect((await rpc("ping")).status).toBe(200);
    });
  });
});

interface Answer {
  readonly result?: Record<string, unknown> & { isError?: boolean; structuredContent?: unknown };
  readonly error?: { code: number; message: string; data?: unknown };
}
