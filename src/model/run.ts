import { z } from "zod";
import { IDENTITY, WORKSPACE_ID } from "./names.ts";
import { MAX_REASON, PROPOSAL_ID } from "./proposal-kinds.ts";

/** What `metadata.json` looks like now. One that is newer was written by a newer cloche. */
export const RUN_VERSION = 1;

/** Where the agent of a run is to be found in its sandbox: at a terminal, or with its output apart. */
export const AgentSession = z.union([
  z.object({ kind: z.literal("shell"), shell_id: z.string().min(1).max(64) }),
  z.object({ kind: z.literal("command"), sequence: z.number().int().min(1) }),
]);
export type AgentSession = z.infer<typeof AgentSession>;

const line = z.string().max(256);

/** A change of a run's environment that the operator approved, and by which answer. */
const RunChange = z.object({
  packages: z.array(z.string()),
  steps: z.array(z.string()),
  proposal_id: z.string().regex(PROPOSAL_ID).nullable().default(null),
  reason: z.string().max(MAX_REASON).nullable().default(null),
});
export type RunChange = z.infer<typeof RunChange>;

/** `state/IDENTITY/metadata.json`: what it takes to find a run again, to tell of it and to take it up. No value of a variable is ever in it. */
export const RunMetadata = z.object({
  version: z.literal(RUN_VERSION),
  identity: z.string().regex(IDENTITY),
  agent_name: z.string().regex(IDENTITY),
  backend: z.string().min(1).max(64),
  environment: z.string().min(1).max(256),
  /** Where whoever started it stood. */
  cwd: z.string().min(1).max(4096),
  /** Whether `/workspace` began with that folder. */
  copy_cwd: z.boolean(),
  started_at: z.number(),
  label: line.nullable(),
  color: line.nullable(),
  bottle_names: z.array(z.string().regex(IDENTITY)),
  workspace_id: z.string().regex(WORKSPACE_ID),
  /** The agent's own name for its conversation, fixed before its first start. */
  session_id: z.string().min(1).max(256),
  /** Null before it was started, and after its end. */
  session: AgentSession.nullable(),
  /** When it was last taken up. */
  resumed_at: z.number().nullable(),
  ended_at: z.number().nullable(),
  /** When its files and its home were frozen for later starts; such a run is kept, however it ends. */
  committed_at: z.number().nullable().default(null),
  /** When somebody asked it to end: such a run is kept, since many programs call that a good end. */
  stopped_at: z.number().nullable().default(null),
  /** What its environment was given while it ran, in that order: it is made again from these when the cache was emptied. */
  changes: z.array(RunChange).default([]),
  /** While it is being moved to another environment: what it is to have there. `whole` is that environment with the agent's program. */
  moving: z
    .object({ environment: z.string().min(1).max(256), whole: z.string().min(1).max(512), changes: z.array(RunChange) })
    .nullable()
    .default(null),
  /** Null while it runs, and where nobody knows: its sandbox ended under it. */
  exit_code: z.number().int().nullable(),
});
export type RunMetadata = z.infer<typeof RunMetadata>;

/** `running`: its agent works. `ended`: it was kept, and can be resumed. */
export type RunState = "running" | "ended";

export interface Run {
  identity: string;
  agent_name: string;
  backend: string;
  environment: string;
  state: RunState;
  started_at: number;
  label: string | null;
  color: string | null;
  bottle_names: string[];
  workspace_id: string;
  /** Whether it has a terminal. */
  has_terminal: boolean;
  exit_code: number | null;
  /** When it was frozen for later starts. */
  committed_at: number | null;
}

export interface RunList {
  count: number;
  runs: Run[];
}

/** The first frame of an attached run. */
export interface RunAttached {
  identity: string;
  workspace_id: string;
}

/** How an attachment, or a run, ended. */
export interface RunEnd {
  identity: string;
  /** `running`: whoever was attached has left, and it goes on. */
  state: RunState;
  /** 128+n for a signal; null while it runs, and where nobody knows. */
  exit_code: number | null;
  /** Whether it can be resumed. */
  kept: boolean;
  /** Why it ended, where its exit code does not say. */
  reason: string | null;
  /** Whether its workspace is still there, with changes of the project that can be brought home. */
  has_changes: boolean;
}

/** One thing that a clean-up takes away, or leaves. */
export interface Leftover {
  /** `sandbox`: one that goes on though its home is gone. */
  kind: "run" | "workspace" | "state" | "sandbox";
  identity: string | null;
  workspace_id: string | null;
  backend: string | null;
  /** In a few words. */
  reason: string;
}

export interface CleanedUp {
  removed: Leftover[];
  kept: Leftover[];
}
