import type { ExecResult } from "../model/exec.ts";
import { COMMAND_LINES, hintWords } from "../model/hint.ts";
import { NO_NETWORK, notListed } from "../model/no-network.ts";
import { cutMiddle, jsonLength, SIDE_BUDGET, TEXT_BUDGET } from "./bounded.ts";
import { toolCall } from "./tool-style.ts";

/** What the journal keeps of each stream; all of a shorter one. */
const JOURNAL_CHARS = 65_536;

/** A command's result within the budget. `kept` says whether the workspace is still there to read on in. */
export function boundExec(result: ExecResult, kept: boolean): ExecResult {
  const bound = (stream: "stdout" | "stderr", budget: number) => {
    const text = result[stream];
    const cut = jsonLength(text) > budget;
    const whole = kept && text.length <= JOURNAL_CHARS && !result[`${stream}_truncated`];
    const how = whole
      ? (offset: number) => `workspace_logs with sequence ${result.sequence} and offset ${offset} reads on`
      : kept
        ? "run it with its output in a file under /workspace, and read that with workspace_file_read"
        : "run it in a workspace with its output in a file, or print less";
    return { text: cutMiddle(text, budget, how), cut: cut || result[`${stream}_truncated`] };
  };
  const stdout = bound("stdout", TEXT_BUDGET);
  const stderr = bound("stderr", SIDE_BUDGET);
  return {
    ...result,
    stdout: stdout.text,
    stderr: stderr.text,
    stdout_truncated: stdout.cut,
    stderr_truncated: stderr.cut,
    ...(result.hint !== undefined && { hint: inToolWords(result.hint, result.workspace_id) }),
  };
}

/** The wire has it in the words of a command line. */
function inToolWords(hint: string, workspaceId: string): string {
  const other = notListed(workspaceId);
  const meant = hint === hintWords(other, COMMAND_LINES) ? other : NO_NETWORK;
  return hintWords(meant, { call: toolCall, argument: () => undefined });
}
