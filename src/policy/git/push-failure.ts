/** The steps of a push, in their order. */
export const PUSH_STEPS = ["unpack", "refs", "paths", "hidden", "secrets", "author", "forward"] as const;
export type PushStep = (typeof PUSH_STEPS)[number];

/** Why a push does not pass: words for people, without any value that was found. */
export interface PushFailure {
  readonly step: PushStep;
  readonly text: string;
  /** Of the ref alone that it is about; null for the whole push. */
  readonly ref: string | null;
}

export const failed = (step: PushStep, text: string, ref: string | null = null): PushFailure => ({ step, text, ref });

/** Of each step so many are told one by one. */
const MAX_TOLD = 20;
const HINTS: Readonly<Partial<Record<PushStep, string>>> = {
  unpack: "Look at the repository with `git fsck`, and push again",
  refs: "Push to a branch that the rules allow; the operator can change `rules` of the repository in the bottle",
  paths:
    "Take the change out of every commit of the push; the operator can change `rules.paths` and `rules.max_file_mb`",
  hidden: "Push with an ordinary `git push`, which sends only what the refs need",
  secrets:
    "Take the value out of every commit of the push, not only the last (`git rebase -i`, or a new branch); where it is none, the operator can list the fingerprint in `allow_findings`",
  author: "Commit as who the bottle says (`git commit --amend --reset-author`, or `git rebase --exec`)",
};

/** What a client shows of a refused push, all failures at once. */
export function refusalText(failures: readonly PushFailure[]): string {
  const lines = ["cloche: this push was refused; nothing of it has left the sandbox"];
  for (const step of PUSH_STEPS) {
    const own = failures.filter((one) => one.step === step);
    for (const { text } of own.slice(0, MAX_TOLD)) lines.push(`  ${step.padEnd(8)} ${text}`);
    if (own.length > MAX_TOLD) lines.push(`  ${step.padEnd(8)} and ${own.length - MAX_TOLD} more`);
  }
  for (const step of PUSH_STEPS) {
    const hint = HINTS[step];
    if (hint !== undefined && failures.some((one) => one.step === step)) lines.push(`hint: ${step}: ${hint}`);
  }
  return `${lines.map(printable).join("\n")}\n`;
}

/** In one line after `ng REF`. */
export function refusalReason(failures: readonly PushFailure[], ref: string): string {
  const steps = [...new Set(failures.filter((one) => one.ref === null || one.ref === ref).map(({ step }) => step))];
  return steps.length === 0 ? "cloche: another ref of this push was refused" : `cloche: refused (${steps.join(", ")})`;
}

/** SECURITY: names in a push are a sandbox's own, and steer nobody's terminal (G-86) */
const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "?");
