import type { ModelWire, OfferedTool, ToolOutcome } from "./model-wire.ts";

interface GenerateContentBody {
  readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[];
  readonly contents?: readonly { readonly parts?: readonly Part[] }[];
}

interface Part {
  readonly functionResponse?: { readonly id?: string; readonly response?: Readonly<Record<string, unknown>> };
}

/** Google's API for Gemini, as Gemini CLI uses it. */
export const GENERATE_CONTENT_WIRE: ModelWire = {
  serves: (path) => /^\/v1beta\/models\/[^/]+:streamGenerateContent$/.test(path),

  read(body) {
    const { tools = [], contents = [] } = body as GenerateContentBody;
    const outcomes = new Map<string, ToolOutcome>();
    for (const { functionResponse: result } of contents.flatMap(({ parts }) => parts ?? []))
      if (result?.id !== undefined) {
        const { output, error } = result.response ?? {};
        outcomes.set(result.id, { text: String(error ?? output), isError: error !== undefined });
      }
    const declared = tools.flatMap(({ functionDeclarations }) => functionDeclarations ?? []);
    return { tools: declared.map(({ name }): OfferedTool => ({ name })), outcomes, body };
  },

  events(reply, tool) {
    const part =
      "call" in reply
        ? { functionCall: { id: reply.callId, name: tool?.name, args: reply.call.input } }
        : { text: reply.text };
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 };
    const candidate = { content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 };
    return [[null, { candidates: [candidate], usageMetadata, modelVersion: "scripted" }]];
  },
};
