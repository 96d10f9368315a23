import { GRANT_SECONDS, PUSH_WAIT_SECONDS } from "../../model/proposal-kinds.ts";
import type { Proposed } from "../../model/proposal.ts";
import type { PushFailure } from "../../policy/git/push-failure.ts";
import type { HeldPush, HeldPushes } from "../git/held-pushes.ts";
import { AskRefused } from "./asks.ts";
import type { SuperviseGate } from "./supervise-gate.ts";

/** A client that hears nothing for long gives up. */
const SAY_EVERY_MS = 15_000;
const MOST_REFS = 256;
const MOST_OPTIONS = 16;
const MOST_FAILURES = 64;
const MAX_WORD = 256;
const MAX_TEXT = 1024;

interface Told {
  /** Of what is told, with whatever must not leave taken out. */
  readonly redact: (text: string) => string;
  readonly onHeld: (push: HeldPush, proposalId: string) => void;
}

/** Asks the operator about pushes that the rules refuse, and has them wait. SECURITY: an approval is for the same repository, refs, old and new ids, options and failures (G-99) */
export class AskedPushes implements HeldPushes {
  readonly #supervise: SuperviseGate;
  readonly #told: Told;
  readonly #waitMs: number;

  constructor(supervise: SuperviseGate, told: Told, waitMs = PUSH_WAIT_SECONDS * 1000) {
    this.#supervise = supervise;
    this.#told = told;
    this.#waitMs = waitMs;
  }

  async decide(push: HeldPush, say: (text: string) => void, gone: AbortSignal): ReturnType<HeldPushes["decide"]> {
    const isLetPass = () => this.#supervise.letPass("push-allow", [push.digest]);
    // SECURITY: nothing is approved that the operator is not shown (G-127)
    const names = [...push.commands.map(({ ref }) => ref), ...push.options];
    if (push.commands.length > MOST_REFS || push.options.length > MOST_OPTIONS || names.some(isLong))
      return {
        isApproved: false,
        reason: `the operator is asked about at most ${MOST_REFS} refs and ${MOST_OPTIONS} options at once, all of them short; push fewer`,
      };
    if (isLetPass()) return { isApproved: true, reason: "the operator has approved this push" };
    let id: string;
    try {
      id = this.#supervise.asks.raise(this.#ask(push));
    } catch (error) {
      if (!(error instanceof AskRefused)) throw error;
      return { isApproved: false, reason: `the operator cannot be asked: ${error.message}` };
    }
    this.#told.onHeld(push, id);
    say(`cloche: this push waits for the operator, as proposal ${id}\n`);
    const timer = setInterval(() => say(`cloche: still waiting for ${id}\n`), SAY_EVERY_MS);
    const answer = await this.#supervise.asks.wait(id, this.#waitMs, gone).finally(() => clearInterval(timer));
    const { status, reason, proposal_id } = answer;
    if (status === "approved" || status === "modified") {
      if (isLetPass()) return { isApproved: true, reason: "the operator has approved it" };
      return {
        isApproved: false,
        reason: `${proposal_id} was approved, and has been used already; push again to ask again`,
      };
    }
    if (status === "pending")
      return {
        isApproved: false,
        reason: `the operator has not answered yet; push the same again later: when ${proposal_id} is approved, it passes once, within ${Math.round(GRANT_SECONDS / 60)} minutes`,
      };
    return { isApproved: false, reason: `the operator's answer is: ${status}${reason === null ? "" : `: ${reason}`}` };
  }

  #ask({ repo, digest, commands, options, failures }: HeldPush) {
    const word = (text: string) =>
      this.#told
        .redact(text)
        .replaceAll(/\p{Cc}/gu, "?")
        .slice(0, MAX_WORD);
    const proposed: Proposed<"push-allow"> = {
      digest,
      repo: word(repo),
      refs: commands.slice(0, MOST_REFS).map(({ ref, old, new: next }) => ({ ref: word(ref), old, new: next })),
      ...(options.length > 0 && { options: options.map((option) => word(option) || '""') }),
      failures: shownOf(failures).map(({ step, text }) => ({
        step,
        text: cut(this.#told.redact(text)),
      })),
    };
    const steps = [...new Set(failures.map(({ step }) => step))].join(", ");
    return {
      kind: "push-allow",
      justification: `The rules of ${proposed.repo} refuse this push: ${steps}`,
      proposed,
      command: [
        "git push",
        ...(proposed.options ?? []).map((option) => `-o ${option}`),
        proposed.repo,
        ...proposed.refs.map(({ ref }) => ref),
      ].join(" "),
    } as const;
  }
}

/** A name that fills all of it does not look like its end. */
const cut = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

const isLong = (name: string): boolean => name.length > MAX_WORD;

/** Of very many the operator is told that there are more. */
function shownOf(failures: readonly PushFailure[]): readonly Pick<PushFailure, "step" | "text">[] {
  if (failures.length <= MOST_FAILURES) return failures;
  const shown = failures.slice(0, MOST_FAILURES - 1);
  const [next] = failures.slice(shown.length);
  const text = `and ${failures.length - shown.length} failures more, which are not shown here`;
  return [...shown, { step: next?.step ?? "refs", text }];
}
