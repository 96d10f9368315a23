/** One prompt for each use case of `docs/use-cases/`: what a user picks in the host instead of writing it. */
export interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

export interface PromptRow {
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  /** The steps, with what the arguments say put in. */
  readonly text: (given: Readonly<Record<string, string | undefined>>) => string;
}

const needed = (name: string, description: string): PromptArgument => ({ name, description, required: true });
const optional = (name: string, description: string): PromptArgument => ({ name, description, required: false });
const steps = (...lines: string[]): string => lines.map((line, index) => `${index + 1}. ${line}`).join("\n");
const SANDBOXED = "Run nothing on the host: use the cloche tools only.";

export const PROMPTS: Readonly<Record<string, PromptRow>> = {
  "cold-start-validation": {
    description: "See whether a project validates and starts from nothing",
    arguments: [optional("service", "How its server is started, if it has one")],
    text: ({ service }) =>
      `Find out whether this project works from nothing. ${SANDBOXED}\n` +
      steps(
        "workspace_create, then workspace_file_list and workspace_file_read on its README and build files.",
        "Run its own install, build and test commands with workspace_exec, one at a time.",
        service === undefined
          ? "If it has a server, start it with service_start and a readiness check, and look at service_logs."
          : `Start its server with service_start (${service}) and a readiness check, and look at service_logs.`,
        "Write what worked, what did not and why to /workspace/validation.md, and take it out with workspace_export.",
        "workspace_delete.",
      ),
  },
  "repro-fix-loop": {
    description: "Reproduce a failure, repair it with one patch, prove it",
    arguments: [needed("failure", "What fails, and the command that shows it")],
    text: ({ failure }) =>
      `Reproduce and repair this: ${failure ?? ""}\n${SANDBOXED}\n` +
      steps(
        "workspace_create, then run the failing command with workspace_exec and see it fail as reported.",
        "Read what is at fault with workspace_file_read.",
        "Repair it with one workspace_patch_apply, and run the same command again.",
        "If it still fails, workspace_reset and try another way.",
        "Show workspace_diff, take the changed files out with workspace_export, and workspace_delete.",
      ),
  },
  "parallel-workspaces": {
    description: "Work on several issues at once, one workspace each",
    arguments: [needed("issues", "The issues, one a line")],
    text: ({ issues }) =>
      `Work on these issues, each in a workspace of its own:\n${issues ?? ""}\n${SANDBOXED}\n` +
      steps(
        "workspace_create for each, with a name and a label that tell which issue it is.",
        "Reproduce, patch and prove each in its own workspace; nothing of one is in another.",
        "Compare them with workspace_list and workspace_diff.",
        "Export what is good, and delete every workspace.",
      ),
  },
  "untrusted-inspection": {
    description: "Look at code that nobody trusts, and take only a report out",
    arguments: [optional("question", "What to find out")],
    text: ({ question }) =>
      `Inspect this code without trusting it${question === undefined ? "" : `: ${question}`}. ${SANDBOXED}\n` +
      steps(
        "workspace_create, and see with workspace_file_list what is there before anything runs.",
        "Read what looks suspicious with workspace_file_read: downloads, encoded text, install scripts, credentials.",
        "Run only what answers the question, with workspace_exec. There is no network.",
        "Write the findings to /workspace/report.md, take out that file alone with workspace_export, and workspace_delete.",
      ),
  },
  "review-eval": {
    description: "Review an artifact by a checklist, and go back when it fails",
    arguments: [needed("checklist", "What has to hold, one a line")],
    text: ({ checklist }) =>
      `Review this project by the checklist:\n${checklist ?? ""}\n${SANDBOXED}\n` +
      steps(
        "workspace_create, and snapshot_create with the name checkpoint.",
        "shell_open, and work through the checklist with shell_write and shell_read (plain, wait_for_idle_ms 500).",
        "When a step fails, workspace_reset to the checkpoint before you try another way.",
        "Write the verdict to /workspace/review.md, take it out with workspace_export, show workspace_summary, and workspace_delete.",
      ),
  },
};
