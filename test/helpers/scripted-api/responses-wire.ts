import type { ModelWire, OfferedTool, ToolOutcome } from "./model-wire.ts";

interface ResponsesBody {
  readonly tools?: readonly ToolSpec[];
  readonly input?: readonly InputItem[];
}

interface ToolSpec {
  readonly type: string;
  readonly name?: string;
  /** Of a namespace. */
  readonly tools?: readonly ToolSpec[];
}

interface InputItem {
  readonly type: string;
  /** Tools that come with the conversation instead of before it. */
  readonly tools?: readonly ToolSpec[];
  readonly call_id?: string;
  readonly output?: string | readonly { readonly text?: string }[];
}

const OUTPUTS = ["function_call_output", "custom_tool_call_output"];

/** OpenAI's Responses API, as Codex uses it. */
export const RESPONSES_WIRE: ModelWire = {
  serves: (path) => path === "/v1/responses",

  read(body) {
    const { tools = [], input = [] } = body as ResponsesBody;
    const outcomes = new Map<string, ToolOutcome>();
    for (const { type, call_id: id, output } of input)
      if (OUTPUTS.includes(type) && id !== undefined)
        // This API has no mark for a failed call: the text tells.
        outcomes.set(id, { text: textOf(output), isError: false });
    const more = input.flatMap((item) => item.tools ?? []);
    return { tools: [...tools, ...more].flatMap(offered), outcomes, body };
  },

  events(reply, tool) {
    const { isCustom = false, ...named } = tool ?? {};
    const item =
      "call" in reply
        ? {
            type: isCustom ? "custom_tool_call" : "function_call",
            id: `fc_${reply.callId}`,
            call_id: reply.callId,
            ...named,
            ...(isCustom ? reply.call.input : { arguments: JSON.stringify(reply.call.input) }),
          }
        : { type: "message", id: "msg", role: "assistant", content: [{ type: "output_text", text: reply.text }] };
    const response = { id: "resp_scripted", object: "response", output: [] };
    const usage = { input_tokens: 10, output_tokens: 10, total_tokens: 20 };
    const events: readonly { readonly type: string }[] = [
      { type: "response.created", ...{ response: { ...response, status: "in_progress" } } },
      { type: "response.output_item.added", ...{ output_index: 0, item } },
      { type: "response.output_item.done", ...{ output_index: 0, item } },
      { type: "response.completed", ...{ response: { ...response, status: "completed", output: [item], usage } } },
    ];
    return events.map((data) => [data.type, data] as const);
  },
};

function offered({ type, name, tools }: ToolSpec): OfferedTool[] {
  if (name === undefined) return [];
  if (type === "namespace") return (tools ?? []).flatMap(offered).map((tool) => ({ ...tool, namespace: name }));
  return type === "function" ? [{ name }] : type === "custom" ? [{ name, isCustom: true }] : [];
}

function textOf(output: InputItem["output"]): string {
  if (output === undefined || typeof output === "string") return output ?? "";
  return output.map(({ text }) => text ?? "").join("\n");
}
