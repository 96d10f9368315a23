import { describe, expect, it } from "vitest";
import { ModelUsageReader, isModelCall, isModelTalk } from "./model-usage.ts";

const sse = (...events: object[]) =>
  `${events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n`).join("\n")}\ndata: [DONE]\n\n`;

/** Cut in every size of piece: what is told must not depend on it. */
function usageOf(type: string, text: string): unknown {
  const bytes = Buffer.from(text);
  const read = (size: number) => {
    const reader = ModelUsageReader.for(type);
    for (let at = 0; at < bytes.length; at += size) reader?.push(bytes.subarray(at, at + size));
    return reader?.usage;
  };
  const whole = read(bytes.length);
  for (const size of [1, 2, 3, 7, 64]) expect(read(size)).toEqual(whole);
  return whole;
}

const usage = (input: number, output: number, read = 0, write = 0) => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_tokens: read,
  cache_write_tokens: write,
});

describe("tokens of a model's answer", () => {
  it("are read from Anthropic's, whole and streamed", () => {
    const told = { input_tokens: 12, output_tokens: 34, cache_read_input_tokens: 5, cache_creation_input_tokens: 6 };
    expect(
      usageOf("application/json; charset=utf-8", JSON.stringify({ content: [{ text: 'hé "usage": {' }], usage: told })),
    ).toEqual(usage(12, 34, 5, 6));
    const stream = sse(
      { type: "message_start", message: { id: "m", usage: { input_tokens: 25, output_tokens: 1 } } },
      { type: "content_block_delta", delta: { text: 'a "usage":{"output_tokens":9999} \\' } },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 15 } },
    );
    expect(usageOf("text/event-stream; charset=utf-8", stream)).toEqual(usage(25, 15));
    expect(usageOf("text/event-stream", stream.replaceAll("\n", "\r\n").replaceAll("data: ", "data:"))).toEqual(
      usage(25, 15),
    );
  });

  it("are read from OpenAI's, whole and streamed", () => {
    const chat = { prompt_tokens: 9, completion_tokens: 12, prompt_tokens_details: { cached_tokens: 4 } };
    expect(usageOf("application/json", JSON.stringify({ choices: [], usage: chat }, null, 2))).toEqual(usage(9, 12, 4));
    const chunks = sse({ choices: [{ delta: { content: "x" } }], usage: null }, { choices: [], usage: chat });
    expect(usageOf("text/event-stream", chunks)).toEqual(usage(9, 12, 4));
    const response = { output: [{ text: "x".repeat(9000) }], usage: { input_tokens: 3, output_tokens: 4 } };
    expect(usageOf("application/json", JSON.stringify(response))).toEqual(usage(3, 4));
    expect(usageOf("text/event-stream", sse({ type: "response.completed", response }))).toEqual(usage(3, 4));
  });

  it("are not what a model says, nor what is broken", () => {
    const tool = { content: [{ type: "tool_use", input: { usage: { input_tokens: 999, output_tokens: 999 } } }] };
    expect(usageOf("application/json", JSON.stringify(tool))).toBeUndefined();
    expect(usageOf("text/event-stream", sse({ delta: { usage: { output_tokens: 5 } } }))).toBeUndefined();
    for (const broken of [
      '{"usage":{"input_tokens":-1,"output_tokens":1.5}}',
      '{"usage":{"input_tokens":"12"}}',
      '{"usage":[1]}',
      '[{"usage":{"input_tokens":1}}]',
      `{"usage":{"input_tokens":1,"x":"${"y".repeat(5000)}"}}`,
      '{"usage":{"input_tokens":1',
      '}}}]]"',
    ])
      expect(usageOf("application/json", broken)).toBeUndefined();
    expect(ModelUsageReader.for("text/html")).toBeUndefined();
  });

  it("G-173 come from calls to models in every spelling that a server may take for the same", () => {
    for (const path of [
      "/v1/messages/",
      "/v1/Messages",
      "/v1/messages;v=1",
      "/v1/chat/completions/;x",
      "/v1/RESPONSES/",
    ])
      expect([path, isModelCall("POST", path), isModelTalk(path)]).toEqual([path, true, true]);
  });

  it("come from calls to models only", () => {
    expect(isModelCall("POST", "/v1/messages")).toBe(true);
    expect(isModelCall("POST", "/openai/deployments/x/chat/completions")).toBe(true);
    expect(isModelCall("POST", "/v1/responses")).toBe(true);
    expect(isModelCall("POST", "/v1beta/models/gemini-pro:streamGenerateContent")).toBe(true);
    expect(isModelCall("GET", "/v1/responses")).toBe(false);
    expect(isModelCall("POST", "/v1/messages/count_tokens")).toBe(false);
  });
});
