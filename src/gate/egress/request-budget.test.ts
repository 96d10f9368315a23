import type { ServerResponse } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { TestProxy, Upstream } from "../../../test/helpers/egress-proxy.ts";
import type { BudgetOrder } from "../../model/budget.ts";
import { RunBudget } from "../supervise/run-budget.ts";
import { SuperviseGate } from "../supervise/supervise-gate.ts";

const HOST = "api.example.test";
const TOLD = JSON.stringify({ usage: { prompt_tokens: 3, completion_tokens: 4 } });
const head = (length: number) =>
  `POST /v1/chat/completions HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: ${length}\r\n\r\n`;

describe("the budget of requests over HTTP", () => {
  let upstream: Upstream;
  let proxy: TestProxy;
  let budget: RunBudget;

  beforeAll(async () => {
    upstream = await new Upstream().listen([HOST], { alpn: false });
    proxy = await new TestProxy({ routes: [upstream.route(HOST, { provider: "openai" })] }).listen();
  });
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });
  afterEach(() => budget.close());

  function limit(limits: BudgetOrder["limits"]): void {
    const supervise = new SuperviseGate({ onNew: () => undefined, onChange: () => undefined });
    budget = new RunBudget({ supervise, onNear: () => undefined, waitMs: 50 });
    proxy.gate.budget = budget;
    proxy.gate.events.onUsage = (told, isCounted) => budget.count(told, isCounted);
    budget.order = { limits, used: { model_tokens: 0, model_requests: 0 }, started_at: Date.now() / 1000 };
    upstream.seen.length = 0;
  }

  function answers(act: (response: ServerResponse) => void): void {
    upstream.handler = (_request, response) => act(response as ServerResponse);
  }

  const json = (status = 200) =>
    answers((response) => void response.writeHead(status, { "content-type": "application/json" }).end(TOLD));

  /** Its first words say how it ended. */
  async function post(...parts: string[]): Promise<{ goOn: (more: string) => void; status: Promise<string> }> {
    const socket = await proxy.secure(HOST);
    const status = new Promise<string>((done) =>
      socket.once("data", (chunk: Buffer) => {
        done(chunk.toString().slice(9, 12));
        socket.destroy();
      }),
    );
    socket.on("error", () => undefined).write(parts.join(""));
    return { goOn: (more) => socket.write(more), status };
  }
  const whole = async () => await (await post(head(2), "{}")).status;

  it("G-115 lets no more out when many come at once", async () => {
    limit({ model_requests: 2 });
    answers((response) => {
      setTimeout(() => response.writeHead(200, { "content-type": "application/json" }).end(TOLD), 100);
    });
    const statuses = await Promise.all(Array.from({ length: 20 }, whole));
    expect(statuses.filter((status) => status === "200")).toHaveLength(2);
    expect(upstream.seen).toHaveLength(2);
  });

  it("G-115 holds what began before all was used up, and ends after it", async () => {
    limit({ model_requests: 1 });
    json();
    const early = await post(head(2), "{");
    expect(await whole()).toBe("200");
    early.goOn("}");
    expect(await early.status).toBe("429");
    expect(upstream.seen).toHaveLength(1);
  });

  it("G-115 counts an answer that its client does not wait for, and one that tells nothing", async () => {
    limit({ model_tokens: 100 });
    answers((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: {"choices":[]}\n\n`.repeat(10_000));
    });
    expect(await whole()).toBe("200");
    await expect.poll(() => budget.isUsedUp).toBe(true);
    limit({ model_tokens: 1000 });
    answers((response) => void response.writeHead(200, { "content-type": "application/json" }).end(" ".repeat(5000)));
    expect(await whole()).toBe("200");
    await expect.poll(() => budget.isUsedUp).toBe(true);
  });

  it("counts each once, and none that the server refused", async () => {
    limit({ model_requests: 2 });
    json(529);
    expect(await whole()).toBe("529");
    json();
    expect([await whole(), await whole(), await whole()]).toEqual(["200", "200", "429"]);
  });
});
