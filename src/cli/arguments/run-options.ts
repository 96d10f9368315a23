import { usageError } from "./usage-error.ts";

export const IDENTITY = {
  name: "IDENTITY",
  description: "The run, as `cloche list active --all` shows it",
  completes: "run",
} as const;

export const HEADLESS = {
  type: "boolean",
  description: "Without a terminal: does its task, prints, and ends; asks nothing",
} as const;
export const TASK = { type: "string", value: "TEXT", description: "The task" } as const;
export const YES = { type: "boolean", short: "y", description: "Do not ask" } as const;

/** Nobody could tell it its task later. */
export function requireTask(words: readonly string[], headless: boolean, prompt: string | undefined): void {
  if (headless && prompt === undefined) throw usageError(words, "--headless needs a task", "Give it with --prompt.");
}
