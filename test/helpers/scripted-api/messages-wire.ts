import type { ModelWire, OfferedTool, ToolOutcome } from "./model-wire.ts";

interface MessagesBody {
  readonly tools?: readonly { readonly name: string }[];
  readonly messages?: readonly { readonly content: string | readonly ContentBlock[] }[];
}

interface ContentBlock {
  readonly type: string;
  readonly text?: string;
  readonly tool_use_id?: string;
  readonly is_error?: boolean;
  readonly content?: string | readonly ContentBlock[];
}

const USAGE = { input_tokens: 10, output_tokens: 10 };

/** Anthropic's Messages API, as Claude Code uses it. */
export const MESSAGES_WIRE: ModelWire = {
  serves: (path) => path === "/v1/messages",

  read(body) {
    const { tools = [], messages = [] } = body as MessagesBody;
    const blocks = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
    const outcomes = new Map<string, ToolOutcome>();
    for (const block of blocks)
      if (block.type === "tool_result" && block.tool_use_id !== undefined)
        outcomes.set(block.tool_use_id, { text: textOf(block.content), isError: block.is_error === true });
    return { tools: tools.map(({ name }): OfferedTool => ({ name })), outcomes, body };
  },

  events(reply, tool) {
    const isCall = "call" in reply;
    const message = { id: "msg_scripted", type: "message", role: "assistant", model: "scripted", content: [] };
    const block = isCall
      ? { type: "tool_use", id: reply.callId, name: tool?.name, input: {} }
      : { type: "text", text: "" };
    const delta = isCall
      ? { type: "input_json_delta", partial_json: JSON.stringify(reply.call.input) }
      : { type: "text_delta", text: reply.text };
    const events: readonly { readonly type: string }[] = [
      { type: "message_start", ...{ message: { ...message, stop_reason: null, stop_sequence: null, usage: USAGE } } },
      { type: "content_block_start", ...{ index: 0, content_block: block } },
      { type: "content_block_delta", ...{ index: 0, delta } },
      { type: "content_block_stop", ...{ index: 0 } },
      {
        type: "message_delta",
        ...{ delta: { stop_reason: isCall ? "tool_use" : "end_turn", stop_sequence: null }, usage: USAGE },
      },
      { type: "message_stop" },
    ];
    return events.map((data) => [data.type, data] as const);
  },
};

function textOf(content: ContentBlock["content"]): string {
  if (content === undefined || typeof content === "string") return content ?? "";
  return content.map(({ text }) => text ?? "").join("\n");
}
