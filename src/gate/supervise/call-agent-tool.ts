import type { GateRoute } from "../../model/egress-order.ts";
import { MAX_JUSTIFICATION, WAIT_SECONDS } from "../../model/proposal-kinds.ts";
import { BadArguments, readObject, readText } from "../../policy/supervise/read-arguments.ts";
import { readAskedChange } from "../../policy/supervise/read-asked-change.ts";
import { readAskedRoutes } from "../../policy/supervise/read-asked-routes.ts";
import { AskRefused, type Asks } from "./asks.ts";
import type { LastRefusals } from "./last-refusals.ts";
import type { DoneSignals } from "./done-signals.ts";
import { answerResult, failedResult, toolResult, type ToolResult } from "./tool-result.ts";

/** What the tools of a sandbox work on. */
export interface AgentDesk {
  readonly asks: Pick<Asks, "raise" | "wait">;
  /** Those in force. */
  readonly routes: () => readonly GateRoute[];
  readonly refusals: Pick<LastRefusals, "causeOf">;
  readonly done: DoneSignals;
}

const MAX_SUMMARY = 4096;

export type AgentToolName = "egress-block" | "capability-block" | "list-egress-routes" | "signal-done";

/** Does what a tool is for. What an agent can put right is a result; nothing else is thrown than what the gate itself has broken. */
export async function callAgentTool(
  desk: AgentDesk,
  tool: AgentToolName,
  given: unknown,
  gone: AbortSignal,
  waitMs = WAIT_SECONDS * 1000,
): Promise<ToolResult> {
  const ask = async (
    kind: "egress-block" | "capability-block",
    justification: unknown,
    asked: () => { proposed: object; command: string | null },
  ) => {
    const why = readText(justification, "justification", MAX_JUSTIFICATION);
    const id = desk.asks.raise({ kind, justification: why, ...asked() });
    return answerResult(kind, await desk.asks.wait(id, waitMs, gone));
  };
  try {
    switch (tool) {
      case "egress-block": {
        const hint = 'Give "routes" and "justification", and nothing else';
        const { routes, justification } = readObject(given, "arguments", ["routes", "justification"], hint);
        return await ask(tool, justification, () => {
          const proposed = { routes: readAskedRoutes(routes) };
          return { proposed, command: desk.refusals.causeOf(proposed.routes) };
        });
      }
      case "capability-block": {
        const hint = 'Give "packages" or "steps", and "justification"';
        const keys = ["packages", "steps", "justification"];
        const { packages, steps, justification } = readObject(given, "arguments", keys, hint);
        return await ask(tool, justification, () => ({ proposed: readAskedChange(packages, steps), command: null }));
      }
      case "list-egress-routes":
        return listRoutes(desk.routes());
      case "signal-done":
        return signalDone(desk, given);
    }
  } catch (error) {
    if (error instanceof BadArguments) return failedResult("INVALID_ARGUMENT", error.message, error.hint);
    if (error instanceof AskRefused)
      return failedResult(
        "ASK_REFUSED",
        `The operator is not asked: ${error.message}`,
        "Wait for answers to what you have asked already, or ask for less at once",
      );
    throw error;
  }
}

/** SECURITY: hosts, ports and rules, and nothing of a credential but that there is one (G-106) */
function listRoutes(routes: readonly GateRoute[]): ToolResult {
  const shown = routes.map(({ host, ports, tls, matches, credentials }) => ({
    host,
    ports,
    ...(matches !== null && { matches }),
    ...(tls === "passthrough" && { tls }),
    ...(credentials.length > 0 && { has_credential: true }),
  }));
  const told = {
    count: shown.length,
    routes: shown,
    hint: "A host that is not here is refused with EGRESS_DENIED. Where has_credential is true, the gate puts a credential in: send none",
    next_step: "To reach something else, call egress-block and say why you need it.",
  };
  const names = shown.map(({ host }) => host).join(", ");
  return toolResult(told, shown.length === 0 ? "Nothing can be reached." : `These can be reached: ${names}.`);
}

function signalDone(desk: AgentDesk, given: unknown): ToolResult {
  const keys = ["summary", "message"];
  const { summary, message } = readObject(given, "arguments", keys, 'Give "summary"');
  if (!desk.done.say(readText(summary ?? message, "summary", MAX_SUMMARY)))
    return failedResult("ASK_REFUSED", "You have said so too often", "Go on, or end your turn");
  const told = { status: "told", hint: "The operator is told; nothing is ended by it", next_step: "End your turn." };
  return toolResult(told, "The operator is told.");
}
