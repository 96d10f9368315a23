import { spawn } from "node:child_process";
import { errnoOf } from "../base/errors.ts";
import { onAbort } from "../base/on-abort.ts";
import { escapeJson, escapeName } from "../base/visible-text.ts";
import { BUDGET_WORDS } from "../model/budget.ts";
import type { EventOf } from "../model/event.ts";

/** What an operator hears of wherever they look. */
export type ToldEvent = EventOf<"proposal.created"> | EventOf<"budget.near">;

/** A notification is one look; the rest is at the terminal. */
const SHOWN_CHARACTERS = 300;

/**
 * Tells the operator of a proposal in the way that they have set. Rejects when that failed, with words that may be kept in a log: an address of a webhook is a secret of
 * its own.
 * SECURITY: what an agent wrote is what is told, and never a part of a command: it is in the input, in the body or in an argument that is no option (G-130).
 */
export async function tellProposal(way: string, event: ToldEvent, signal: AbortSignal): Promise<void> {
  const document = `${escapeJson(JSON.stringify(event))}\n`;
  if (way === "notify") await notify(event, signal);
  else if (/^https?:\/\//i.test(way)) await post(way, document, signal);
  else await run(["/bin/sh", "-c", way], document, signal);
}

async function notify(event: ToldEvent, signal: AbortSignal): Promise<void> {
  const who = event.identity ?? event.workspace_id ?? "A run";
  const [title, body] =
    event.kind === "proposal.created"
      ? [`${who} asks: ${event.proposal_kind}`, `${markup(cut(event.adds))}\nAnswer with: cloche supervise`]
      : [`${who} has little left`, `It has used ${event.used} of ${event.limit} ${BUDGET_WORDS[event.resource]}`];
  try {
    await run(["notify-send", "--app-name=cloche", "--", escapeName(title), body], "", signal);
  } catch (error) {
    throw errnoOf(error) === "ENOENT" ? new Error("there is no notify-send here; it is in libnotify-bin") : error;
  }
}

const cut = (text: string): string => {
  const shown = escapeName(text);
  return shown.length > SHOWN_CHARACTERS ? `${shown.slice(0, SHOWN_CHARACTERS)}…` : shown;
};

/** A notification's body is a kind of HTML: an agent could put a link there. */
const MARKUP: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const markup = (text: string): string => text.replaceAll(/[&<>]/g, (sign) => MARKUP[sign] ?? "");

async function post(address: string, body: string, signal: AbortSignal): Promise<void> {
  const headers = { "content-type": "application/json" };
  let status: number;
  try {
    // What answers with another address is not what the operator has set.
    const answer = await fetch(address, { method: "POST", headers, body, redirect: "manual", signal });
    await answer.body?.cancel();
    ({ status } = answer);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new Error(
      `the webhook does not answer: ${errnoOf(cause) ?? (signal.aborted ? "it takes too long" : "fetch failed")}`,
      { cause: error },
    );
  }
  if (status < 200 || status >= 300) throw new Error(`the webhook answered with ${status}`);
}

/** In a group of its own, so that all it has started ends with it when it takes too long. */
function run([program = "", ...args]: readonly string[], input: string, signal: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { stdio: ["pipe", "ignore", "ignore"], detached: true });
    const stopListening = onAbort(signal, () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has just ended.
      }
    });
    const end = (error?: Error) => {
      stopListening();
      if (error) fail(error);
      else done();
    };
    child.once("error", end);
    child.once("exit", (code, killed) => {
      if (code === 0) end();
      else end(new Error(signal.aborted ? "it takes too long" : `it ended with ${code ?? killed ?? "a signal"}`));
    });
    // A command may end without reading.
    child.stdin.on("error", () => undefined).end(input);
  });
}
