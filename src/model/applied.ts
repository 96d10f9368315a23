import type { ChangeStatus } from "./files.ts";

/**
 * How changes come home. `patch`: into the files of the checkout, uncommitted. `branch`: as one commit on a new branch, beside all that is checked out.
 * `worktree`: that branch, checked out in a folder of its own.
 */
export const APPLY_FORMS = ["patch", "branch", "worktree"] as const;
export type ApplyForm = (typeof APPLY_FORMS)[number];

/** What becomes of one change. `there`: the checkout has it already. */
export type ApplyOutcome = "applies" | "merges" | "there" | "conflicts";

export interface AppliedEntry {
  /** Relative to the top of the checkout. */
  path: string;
  status: Exclude<ChangeStatus, "renamed">;
  outcome: ApplyOutcome;
  /** Of a conflict. */
  reason: string | null;
  /** Null for what is no text. */
  lines_added: number | null;
  lines_removed: number | null;
}

export interface Applied {
  workspace_id: string;
  /** Of the run, where it is the workspace of one. */
  identity: string | null;
  as: ApplyForm;
  /** False for a dry run, and where there was nothing to bring. */
  applied: boolean;
  /** The top of the checkout. */
  checkout_path: string;
  /** What a branch stands on. */
  base_commit: string | null;
  branch: string | null;
  commit: string | null;
  worktree_path: string | null;
  entries: AppliedEntry[];
  conflict_count: number;
  /** What does not come along, and why. */
  left_out: { path: string; reason: string }[];
  /** Changed files that tools of the host obey by themselves. */
  look_first: string[];
  /** Changes that the project's ignore rules cover; they stay in the workspace. */
  ignored_count: number;
  /** Stands for all of it with its content: given to the call that applies, nothing else is applied than what was shown. */
  plan_digest: string;
}
