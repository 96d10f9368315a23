/** A call of a tool that the scripted model wants, by the tool's own name: how a host prefixes it is the host's business. */
export interface ToolCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What the agent reported back about a call, as the model gets to read it. */
export interface ToolOutcome {
  readonly text: string;
  readonly isError: boolean;
}

/** One answer of the model: a call of a tool, or words that end the turn. */
export type Reply = { readonly call: ToolCall; readonly callId: string } | { readonly text: string };

/** What one request of an agent says, whatever its provider's format. */
export interface ModelRequest {
  /** The tools it offers, by their full names. */
  readonly tools: readonly OfferedTool[];
  /** The outcomes in its conversation, by the id of the call. */
  readonly outcomes: ReadonlyMap<string, ToolOutcome>;
  /** Everything that the model would read, for tests that look for a word in it. */
  readonly body: unknown;
}

export interface OfferedTool {
  readonly name: string;
  /** Where a provider groups tools. */
  readonly namespace?: string;
  /** Takes a text: the field `input` of a call. */
  readonly isCustom?: boolean;
}

/** How one provider's API looks on the wire. */
export interface ModelWire {
  /** Whether it is asked at this path, such as `/v1/messages`. */
  serves(path: string): boolean;
  read(body: unknown): ModelRequest;
  /** The events of a streamed answer, in order: the event's name, where events have one, and its data. */
  events(reply: Reply, tool: OfferedTool | undefined): readonly (readonly [event: string | null, data: object])[];
}
