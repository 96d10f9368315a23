import type { AskAnswer } from "./asks.ts";

/** The result of a tool. Models see `structuredContent` alone, so that all is in it; the text is for people who look at a log. */
export interface ToolResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly structuredContent: object;
  readonly isError?: true;
}

export const toolResult = (structuredContent: object, text: string): ToolResult => ({
  content: [{ type: "text", text }],
  structuredContent,
});

export function failedResult(code: string, message: string, hint: string): ToolResult {
  const error = { code, message, hint };
  return { ...toolResult({ error, next_step: hint }, `${message}. ${hint}`), isError: true };
}

interface Words {
  readonly message: string;
  readonly next_step: string;
}

/** How an answer of the operator's is told to an agent. */
export function answerResult(tool: string, answer: AskAnswer): ToolResult {
  const { status, proposal_id, reason, proposed } = answer;
  const { message, next_step } = wordsFor(tool, answer);
  const told = {
    status,
    proposal_id,
    message,
    ...(reason !== null && { reason }),
    ...(status === "modified" && { approved: proposed }),
    hint: HINTS[status],
    next_step,
  };
  return toolResult(told, [message, reason, next_step].filter((part) => part !== null).join(" "));
}

const HINTS: Readonly<Record<AskAnswer["status"], string>> = {
  pending: "This is no refusal: the question stays with the operator, also while you do other things",
  approved: "It holds from now on; list-egress-routes shows what can be reached",
  modified: "The operator changed what you asked for; `approved` is what you have now",
  rejected: "Do not ask for the same again, and do not look for a way around it",
  expired: "Nobody decided in time",
};

function wordsFor(tool: string, { status, scope }: AskAnswer): Words {
  const isEgress = tool === "egress-block";
  switch (status) {
    case "pending":
      return {
        message: "The operator has not decided yet.",
        next_step: `Go on with work that does not need it. Call ${tool} again with the same arguments to hear the decision.`,
      };
    case "approved":
    case "modified":
      return {
        message: `The operator approved it${status === "modified" ? " with changes" : ""}, and it is in force${scope === "once" ? ", for one request" : ""}.`,
        next_step: isEgress
          ? "Send the request again."
          : "Your environment has it now. Use it, and go on where you were.",
      };
    case "rejected":
      return {
        message: "The operator rejected it, for the reason that is given.",
        next_step: "Go on without it, or call signal-done and say why you cannot.",
      };
    case "expired":
      return { message: "The question has expired.", next_step: `Call ${tool} again if you still need it.` };
  }
}
