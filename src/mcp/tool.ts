import type { z } from "zod";
import type { ToolName } from "./profiles.ts";
import type { ScopedClient } from "./scope/scoped-client.ts";

/** What a tool's work gets beside its arguments. */
export interface ToolContext {
  readonly cloche: ScopedClient;
  /** Aborted when the client cancels the call or goes away. */
  readonly signal: AbortSignal;
  /** For workspaces that name none. */
  readonly defaults: { readonly environment?: string | undefined; readonly backend?: string | undefined };
  /** Tells the client that the call goes on; absent when the client did not ask to be told. */
  readonly report?: ((message: string) => void) | undefined;
}

/** Hints for hosts: what they may let through without asking. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint: false;
}

/** Looks and changes nothing. */
export const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
/** Adds something; nothing that was there is lost. */
export const ADDS: ToolAnnotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
/** Sets a state; asking twice is as asking once. */
export const SETS: ToolAnnotations = { ...ADDS, idempotentHint: true };
/** What it replaces or ends is gone. */
export const DESTROYS: ToolAnnotations = { readOnlyHint: false, destructiveHint: true, openWorldHint: false };

export interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject> {
  readonly name: ToolName;
  readonly description: string;
  readonly input: Input;
  /** The fields that a caller can rely on; there may be more. */
  readonly output: Output;
  readonly annotations: ToolAnnotations;
  /** How to get what does not fit into one result, where the tool has no way of its own to read on. */
  readonly readOn?: string;
  run(input: z.output<Input>, context: ToolContext): Promise<z.input<Output>>;
  /** The result in words, for hosts that show no structured content. */
  text(result: z.input<Output>, input: z.output<Input>): string;
}

/** A tool whose arguments are not known in detail. */
export interface Tool {
  readonly name: ToolName;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly annotations: ToolAnnotations;
  readonly readOn?: string;
  run(input: unknown, context: ToolContext): Promise<object>;
  text(result: object, input: unknown): string;
}

/** Keeps the types for `run` and `text`, and gives a tool of the common type. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Input, Output>,
): Tool {
  return definition;
}
