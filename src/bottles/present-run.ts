import type { Run, RunEnd, RunMetadata } from "../model/run.ts";

/** Whoever was attached has left. */
export const stillRunning = (identity: string): RunEnd => ({
  identity,
  state: "running",
  exit_code: null,
  kept: true,
  reason: null,
  has_changes: false,
});

/** For who wants to take up one that works. */
export const activeHint = (identity: string) => ({
  hint: `Sit down at it with \`cloche attach ${identity}\`, or end it with \`cloche stop ${identity}\``,
});

export function presentRun({ session, ...metadata }: RunMetadata): Run {
  const { identity, agent_name, backend, environment, started_at, label, color, bottle_names, workspace_id } = metadata;
  return {
    identity,
    agent_name,
    backend,
    environment,
    state: metadata.ended_at === null ? "running" : "ended",
    started_at,
    label,
    color,
    bottle_names,
    workspace_id,
    has_terminal: session?.kind === "shell",
    exit_code: metadata.exit_code,
    committed_at: metadata.committed_at,
  };
}
