import { failure } from "../model/error-codes.ts";
import { OPERATIONS, type OperationName } from "../model/operations.ts";

type Rows = typeof OPERATIONS;
/** `vm_run` is several operations in one. */
export type ToolName =
  "vm_run" | { [Name in OperationName]: Rows[Name]["mcp"] extends { tool: infer Tool } ? Tool : never }[OperationName];

/** The tools whose operation names that profile, in the order of the rows. */
const toolsOf = (profile: "core" | "full"): ToolName[] =>
  Object.values(OPERATIONS).flatMap(({ mcp }) => (mcp?.profile === profile ? [mcp.tool] : []));

const CORE: readonly ToolName[] = ["vm_run", ...toolsOf("core")];

/** Which tools are served: data, compared by tests with what a server lists. */
export const PROFILES = {
  "vm-run": ["vm_run"],
  "workspace-core": CORE,
  "workspace-full": [...CORE, ...toolsOf("full")],
} as const satisfies Record<string, readonly ToolName[]>;

export type Profile = keyof typeof PROFILES;
export const PROFILE_NAMES = Object.keys(PROFILES) as Profile[];
export const DEFAULT_PROFILE: Profile = "workspace-core";

/** Arguments that only `workspace-full` offers: they open the sandbox or bring secrets in. */
export const FULL_ARGUMENTS: readonly string[] = [
  "secrets",
  "secret_env",
  "network_policy",
  "allow_hosts",
  "published_ports",
];

interface ModeRow {
  /** One sentence for the server's instructions. */
  readonly purpose: string;
  readonly tools: readonly ToolName[];
  /** What a tool is for in this use case, instead of its own description. */
  readonly descriptions: Readonly<Partial<Record<ToolName, string>>>;
}

const EVERYWHERE = [
  "workspace_create",
  "workspace_list",
  "workspace_status",
  "workspace_exec",
  "workspace_logs",
] as const;
const LOOK = ["workspace_file_list", "workspace_file_read"] as const;
const TAKE_OUT = ["workspace_summary", "workspace_export", "workspace_delete"] as const;

export const MODES = {
  "repro-fix": {
    purpose: "Reproduce a failure, repair it with one patch, prove it, and take the change out.",
    tools: [
      ...EVERYWHERE,
      ...LOOK,
      "workspace_file_write",
      "workspace_patch_apply",
      "workspace_diff",
      "workspace_reset",
      ...TAKE_OUT,
    ],
    descriptions: {
      workspace_exec:
        "Run the failing check, and run it again after the patch. A non-zero exit code is a result, not an error.",
      workspace_patch_apply: "Apply the repair as one unified diff: all of it or nothing.",
      workspace_diff: "Show the repair as a patch that `git apply` takes.",
      workspace_reset: "Go back to the bug: a new sandbox with the files of the beginning.",
      workspace_export: "Take a repaired file or folder out to a new path.",
    },
  },
  inspect: {
    purpose: "Look at code that nobody trusts, and take only a report out.",
    tools: [...EVERYWHERE, ...LOOK, "workspace_file_write", ...TAKE_OUT],
    descriptions: {
      workspace_file_list: "See what is there before anything of it runs.",
      workspace_file_read: "Read suspicious files as text; nothing of them runs.",
      workspace_exec: "Run a look at the files, such as grep. There is no network; what it breaks is thrown away.",
      workspace_export: "Take the report out to a new path, and nothing else.",
    },
  },
  "cold-start": {
    purpose: "See whether an unknown project validates and starts from nothing.",
    tools: [
      ...EVERYWHERE,
      ...LOOK,
      "workspace_file_write",
      "service_start",
      "service_list",
      "service_status",
      "service_logs",
      "service_stop",
      "workspace_reset",
      ...TAKE_OUT,
    ],
    descriptions: {
      workspace_exec: "Run the project's own validation step by step, as its README says.",
      service_start:
        "Start the project's server and wait until it is ready; fails with its last lines when it does not get so.",
      service_logs: "Show what the server printed.",
      workspace_reset: "Start from nothing again.",
    },
  },
  "review-eval": {
    purpose: "Review an artifact by a checklist in a terminal, and go back to a checkpoint when it fails.",
    tools: [
      ...EVERYWHERE,
      ...LOOK,
      "workspace_file_write",
      "workspace_patch_apply",
      "workspace_diff",
      "snapshot_create",
      "snapshot_list",
      "snapshot_delete",
      "shell_open",
      "shell_read",
      "shell_write",
      "shell_signal",
      "shell_close",
      "workspace_reset",
      ...TAKE_OUT,
    ],
    descriptions: {
      snapshot_create: "Keep a checkpoint to come back to before the review changes anything.",
      shell_open: "Open the terminal that the checklist is worked through in.",
      workspace_reset: "Go back to a checkpoint when the review fails.",
      workspace_summary: "Tell what was done, as material for the verdict.",
    },
  },
} as const satisfies Record<string, ModeRow>;

export type Mode = keyof typeof MODES;
export const MODE_NAMES = Object.keys(MODES) as Mode[];

export interface Selection {
  readonly tools: readonly ToolName[];
  readonly mode: Mode | undefined;
  /** Whether arguments of `FULL_ARGUMENTS` are offered. */
  readonly full: boolean;
}

/** What a server with this profile and mode serves. A mode narrows a profile; one that lacks tools of the mode is refused. */
export function selectTools(profile: string | undefined, mode: string | undefined): Selection {
  const chosen = profile === undefined ? undefined : known("profile", profile, PROFILE_NAMES);
  if (mode === undefined) {
    const name = chosen ?? DEFAULT_PROFILE;
    return { tools: PROFILES[name], mode: undefined, full: name === "workspace-full" };
  }
  const name = known("mode", mode, MODE_NAMES);
  const offered: readonly ToolName[] = PROFILES[chosen ?? "workspace-full"];
  const lacking = MODES[name].tools.find((tool) => !offered.includes(tool));
  if (lacking !== undefined) {
    throw failure("USAGE", `Profile "${String(chosen)}" lacks ${lacking}, which mode "${name}" needs`, {
      hint: `Leave the profile out: mode "${name}" has tools of its own`,
    });
  }
  return { tools: MODES[name].tools, mode: name, full: false };
}

function known<Name extends string>(kind: string, given: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === given);
  if (found !== undefined) return found;
  throw failure("USAGE", `There is no ${kind} "${given}"`, { hint: `Use one of ${names.join(", ")}` });
}
