import type { z } from "zod";
import type * as fields from "./operations/fields.ts";
import type { ToolRow } from "./tool-row.ts";

/** What an input is made of. A row names it by type alone, so that a client which checks no input loads no schema library. */
export type InputFields = typeof fields;

declare const TYPE: unique symbol;
/** A type that stands in a row; there is no value of it at run time. */
export interface TypeOnly<Type> {
  readonly [TYPE]?: Type;
}
export type TypeIn<Row> = Row extends TypeOnly<infer Type> ? Type : never;
export const typeOnly = <Type>(): TypeOnly<Type> => ({});

/**
 * Which queue a call waits in. `light` asks for little; `heavy` may have an input or a result of many MiB; `making` starts processes of the host; `moving`
 * remembers the names of what it copies; `watching` stays for long and holds little; `always` waits for nothing: ways out, however much is under way.
 */
export type Lane = "light" | "heavy" | "making" | "moving" | "watching" | "always";

/** All that is known about one operation. Every fact has to be said: one that is left out does not compile. */
interface OperationFacts {
  /** Its result; of a stream, what comes after the last frame. */
  readonly result: TypeOnly<unknown>;
  /** Asking twice is the same as asking once, so that it may be asked again when the answer was lost. */
  readonly repeatable: boolean;
  /**
   * What moves the expiry of its workspace. `none`: looking does not. `done`: it does when it has succeeded. `recorded`: the verb writes that
   * together with what it changes, or with the command in the journal.
   */
  readonly activity: "none" | "done" | "recorded";
  readonly lane: Lane;
  /** The words of its command; null where it has none of its own. */
  readonly cli: string | null;
  /** How agents have it over MCP; null: not at all. */
  readonly mcp: ToolRow | null;
}

/** `record`: also while the sandbox of the workspace does not answer. `sandbox`: waits until one that is being taken up does. */
interface AboutWorkspace extends OperationFacts {
  readonly about: "record" | "sandbox";
  readonly input: (fields: InputFields) => z.ZodObject<{ workspace_id: InputFields["workspaceId"] }>;
}

/** `daemon`: answered by the daemon itself, also to a client of another version. `host`: about the installation. */
interface AboutHost extends OperationFacts {
  readonly about: "host" | "daemon";
  readonly input: (fields: InputFields) => z.ZodObject;
}

/** One question, one answer; lines of progress before it. */
interface Call {
  readonly kind: "call";
}

/** Full duplex: the body is one JSON line, then what is typed; the answer is frames (`stream-frames.ts`). */
interface Command {
  readonly kind: "command";
  /** What the first frame says. */
  readonly started: TypeOnly<object>;
  /** Whether the body goes on after its first line; `asked`: when the input has `stdin: true`. */
  readonly stdin: "always" | "asked" | "never";
}

/** Pushes frames with what has happened, as fast as the client takes them, until one side ends it. */
interface Events {
  readonly kind: "events";
  /** What a frame says. */
  readonly event: TypeOnly<object>;
}

export type Operation = (AboutWorkspace | AboutHost) & (Call | Command | Events);
