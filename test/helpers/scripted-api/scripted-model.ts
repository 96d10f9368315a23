import { GENERATE_CONTENT_WIRE } from "./generate-content-wire.ts";
import { MESSAGES_WIRE } from "./messages-wire.ts";
import type { ModelRequest, ModelWire, OfferedTool, Reply, ToolCall, ToolOutcome } from "./model-wire.ts";
import { RESPONSES_WIRE } from "./responses-wire.ts";

/** The model's part of a conversation: it yields calls of tools, gets what the agent reports about each, and returns its last words. */
export type Script = () => Generator<ToolCall, string, ToolOutcome>;

export const callTool = (tool: string, input: Readonly<Record<string, unknown>> = {}): ToolCall => ({ tool, input });

/** Says one thing, and calls nothing. */
export const saying = (words: string): Script =>
  function* () {
    yield* [];
    return words;
  };

const WIRES: readonly ModelWire[] = [MESSAGES_WIRE, RESPONSES_WIRE, GENERATE_CONTENT_WIRE];

export const wireAt = (path: string): ModelWire | undefined => WIRES.find((one) => one.serves(path));

/**
 * A model that plays a script, so that a real agent runs without one: what it offers, what it calls and what it reports are its own. A request that does not belong
 * to the scripted conversation (a title, a summary) is answered with a word.
 */
export class ScriptedModel {
  /** Every call that was answered, with what the agent reported about it. */
  readonly calls: (ToolCall & { readonly outcome: ToolOutcome })[] = [];
  /** What the agent sent, for tests that look for what must or must not be there. */
  readonly requests: ModelRequest[] = [];
  /** What went wrong in the script itself, such as a tool that the agent does not offer. */
  readonly problems: string[] = [];
  readonly #play: Generator<ToolCall, string, ToolOutcome>;
  readonly #replies: Reply[] = [];

  constructor(script: Script) {
    this.#play = script();
  }

  /** Whether the script was played to its end. */
  get finished(): boolean {
    const last = this.#replies.at(-1);
    return last !== undefined && "text" in last;
  }

  /** The events of the answer to a request. */
  answer(wire: ModelWire, read: ModelRequest): ReturnType<ModelWire["events"]> {
    this.requests.push(read);
    const reply = this.#next(read);
    return wire.events(reply, "call" in reply ? findTool(read.tools, reply.call.tool) : undefined);
  }

  /** The reply to a conversation depends on how far it is, so that a request that the agent repeats gets the same one. */
  #next({ tools, outcomes }: ModelRequest): Reply {
    if (tools.length === 0) return { text: "ok" };
    for (const reply of this.#replies) {
      if ("text" in reply) return reply;
      const outcome = outcomes.get(reply.callId);
      if (outcome === undefined) return reply;
      if (reply !== this.#replies.at(-1)) continue;
      this.calls.push({ ...reply.call, outcome });
      return this.#advance(tools, () => this.#play.next(outcome));
    }
    return this.#advance(tools, () => this.#play.next(undefined as never)); // what the first `next` passes goes nowhere
  }

  #advance(tools: readonly OfferedTool[], step: () => IteratorResult<ToolCall, string>): Reply {
    const reply = this.#toReply(tools, step);
    this.#replies.push(reply);
    return reply;
  }

  /** A script that fails ends the conversation: the test then finds the reason instead of an agent that waits. */
  #toReply(tools: readonly OfferedTool[], step: () => IteratorResult<ToolCall, string>): Reply {
    try {
      const { done, value } = step();
      if (done) return { text: value };
      if (findTool(tools, value.tool)) return { call: value, callId: `call_${this.#replies.length}` };
      this.problems.push(`the agent offers no tool ${value.tool}, but ${tools.map(({ name }) => name).join(", ")}`);
    } catch (error) {
      this.problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
    return { text: "The script failed" };
  }
}

/** `workspace_create` is `mcp__cloche__workspace_create` to one host and has a namespace at another. */
function findTool(tools: readonly OfferedTool[], name: string): OfferedTool | undefined {
  return tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.name.endsWith(`__${name}`));
}
