import { describe, expect, it } from "vitest";
import { ModelTalk } from "./model-talk.ts";
import { isModelTalk } from "./model-usage.ts";

const tokens = (input: number, output: number) => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
});

class Told {
  asks = 0;
  readonly answers: unknown[] = [];
  readonly talk = new ModelTalk({
    onAsk: () => this.asks++,
    onAnswer: (usage, isAsked) => this.answers.push([usage, isAsked]),
  });

  /** In pieces of that size: what is told must not depend on it. */
  send(text: string, size = text.length): this {
    for (const part of cut(text, size)) this.talk.send(part);
    this.talk.sent();
    return this;
  }

  receive(message: unknown, size = 1_000_000): this {
    for (const part of cut(typeof message === "string" ? message : JSON.stringify(message), size))
      this.talk.receive(part);
    this.talk.received();
    return this;
  }
}

function* cut(text: string, size: number): Generator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const completed = (input: number, output: number) => ({
  type: "response.completed",
  response: { output: [{ text: 'say "usage": {' }], usage: { input_tokens: input, output_tokens: output } },
});

describe("what is said with a model over a WebSocket", () => {
  it.each([1, 3, 64, 100_000])("is counted by question and answer, in pieces of %d", (size) => {
    const told = new Told();
    told.send(JSON.stringify({ type: "response.create", input: ["x".repeat(9000)] }), size);
    told.receive({ type: "response.created", response: { usage: null } }, size);
    told.receive({ type: "response.output_text.delta", delta: '{"usage":{"input_tokens":99}}' }, size);
    expect(told.answers).toEqual([]);
    told.receive(completed(12, 34), size);
    told
      .send(JSON.stringify({ input: "x".repeat(9000), type: "response.create" }), size)
      .receive(completed(1, 2), size);
    expect(told.asks).toBe(2);
    expect(told.answers).toEqual([
      [tokens(12, 34), true],
      [tokens(1, 2), true],
    ]);
  });

  it("is a question however it is written, and nothing else is", () => {
    const told = new Told();
    for (const text of [
      ' { "type" : "response.create" }',
      '{"type":"response.cre\\u0061te"}',
      '{"type":"other","type":"response.create"}',
      '{"type":"response.create","type":"other"}',
    ])
      told.send(text);
    expect(told.asks).toBe(4);
    for (const text of [
      '{"type":"session.update","session":{"type":"response.create"}}',
      '{"text":"\\"type\\":\\"response.create\\""}',
      '["type","response.create"]',
      `{"type":"${"x".repeat(500)}"}`,
      "no JSON",
      "",
    ])
      told.send(text);
    expect(told.asks).toBe(4);
  });

  it("counts by its answers too, where no question was seen, and one without an end", () => {
    const told = new Told().receive(completed(1, 2)).receive({ type: "error", error: {} });
    told.send('{"type":"response.create"}').receive({ type: "error", status: 400, error: {} });
    told.receive({ type: "response.in_progress", response: { usage: { input_tokens: 5, output_tokens: 1 } } });
    told.talk.close();
    told.talk.close();
    expect(told.answers).toEqual([
      [tokens(1, 2), false],
      [tokens(5, 1), false],
    ]);
  });

  it("is at the places of models only", () => {
    expect(["/v1/responses", "/backend-api/codex/responses", "/v1/realtime"].every(isModelTalk)).toBe(true);
    expect(["/chat", "/v1/responses/x"].some(isModelTalk)).toBe(false);
  });
});
