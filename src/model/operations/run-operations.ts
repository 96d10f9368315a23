import { type Applied, APPLY_FORMS } from "../applied.ts";
import type { PlannedRun } from "../bottle-plan.ts";
import { type Operation, typeOnly } from "../operation.ts";
import type { CleanedUp, Run, RunAttached, RunEnd, RunList } from "../run.ts";

export const runOperations = {
  /** Makes all that an agent needs and starts it. Whoever asked attaches next. */
  startRun: {
    kind: "call",
    input: ({ z, runFields, launchFields }) => z.strictObject({ ...runFields, ...launchFields }),
    result: typeOnly<Run>(),
    about: "host",
    repeatable: false,
    activity: "none",
    lane: "making",
    cli: "start",
    mcp: null,
  },
  /** What resuming it would do. Makes nothing. */
  planResume: {
    kind: "call",
    input: ({ z, identity, resumeFields }) => z.strictObject({ identity, ...resumeFields }),
    result: typeOnly<PlannedRun>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "resume",
    mcp: null,
  },
  /** The same for one that has ended and was kept. */
  resumeRun: {
    kind: "call",
    input: ({ z, identity, resumeFields, launchFields }) =>
      z.strictObject({ identity, ...resumeFields, ...launchFields }),
    result: typeOnly<Run>(),
    about: "host",
    repeatable: false,
    activity: "none",
    lane: "making",
    cli: "resume",
    mcp: null,
  },
  /** What is typed goes in where it has a terminal; its output comes out. After its end the result says what became of it. */
  attachRun: {
    kind: "command",
    input: ({ z, identity, terminalSize }) => {
      const offset = z.number().int().min(0).optional();
      return z.strictObject({
        identity,
        terminal: z.strictObject(terminalSize).optional(),
        /** Of a terminal: from there on; without it, the last screenful. */
        cursor: offset,
        stdout_offset: offset,
        stderr_offset: offset,
      });
    },
    result: typeOnly<RunEnd>(),
    started: typeOnly<RunAttached>(),
    stdin: "always",
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "watching",
    cli: "attach",
    mcp: null,
  },
  resizeRun: {
    kind: "call",
    input: ({ z, identity, terminalSize }) => z.strictObject({ identity, ...terminalSize }),
    result: typeOnly<{ identity: string; resized: boolean }>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: null,
    mcp: null,
  },
  signalRun: {
    kind: "call",
    input: ({ z, identity }) => z.strictObject({ identity, signal: z.enum(["INT", "TERM", "HUP", "KILL"]) }),
    result: typeOnly<{ identity: string; signalled: boolean }>(),
    about: "host",
    repeatable: false,
    activity: "none",
    lane: "always",
    cli: null,
    mcp: null,
  },
  /** Ends the agent; the run is kept. */
  stopRun: {
    kind: "call",
    input: ({ z, identity }) => z.strictObject({ identity }),
    result: typeOnly<RunEnd>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "always",
    cli: "stop",
    mcp: null,
  },
  /** Those that run; with `all`, those that were kept too. */
  listRuns: {
    kind: "call",
    input: ({ z }) => z.strictObject({ all: z.boolean().optional() }),
    result: typeOnly<RunList>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "list",
    mcp: null,
  },
  /** Freezes the workspace and the home of a run for later starts; the run is kept. */
  commitRun: {
    kind: "call",
    input: ({ z, identity }) => z.strictObject({ identity }),
    result: typeOnly<Run>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "making",
    cli: "commit",
    mcp: null,
  },
  /** Brings what changed in the workspace of a run, or in any other, into a checkout of the host. */
  applyRun: {
    kind: "call",
    input: ({ z, path, workspaceId }) =>
      z.strictObject({
        /** The run; or a workspace. */
        identity: workspaceId,
        as: z.enum(APPLY_FORMS).optional(),
        /** A folder of the checkout; where the workspace began without it. */
        project_path: path.optional(),
        /** Only these files and folders. */
        path: z.union([path, z.array(path).max(256)]).optional(),
        branch: z.string().min(1).max(200).optional(),
        /** Of the worktree. */
        output_path: path.optional(),
        /** Of the commit. */
        message: z.string().min(1).max(65_536).optional(),
        dry_run: z.boolean().optional(),
        /** Of a dry run: what it showed is applied, or nothing. */
        plan_digest: z
          .string()
          .regex(/^[0-9a-f]{64}$/)
          .optional(),
      }),
    result: typeOnly<Applied>(),
    about: "host",
    repeatable: false,
    activity: "none",
    lane: "making",
    cli: "apply",
    mcp: null,
  },
  /** Takes away what runs have left, on every backend. Those that were kept go with `all`; those that run never do. */
  cleanUp: {
    kind: "call",
    input: ({ z }) => z.strictObject({ all: z.boolean().optional(), dry_run: z.boolean().optional() }),
    result: typeOnly<CleanedUp>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "making",
    cli: "cleanup",
    mcp: null,
  },
} as const satisfies Record<string, Operation>;
