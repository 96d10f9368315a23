import { BUDGET_WORDS } from "../../model/budget.ts";
import type { Proposed, ProposalKind } from "../../model/proposal.ts";
import type { Route } from "../../model/egress.ts";
import { shortRef } from "../git/ref-rules.ts";
import { shownName } from "../git/shown-name.ts";
import { addedRoute } from "./added-route.ts";
import { areReached } from "./already-reached.ts";
import { mergeRoutes } from "./merge-routes.ts";

/** What a sentence is made with beside the proposal. */
export interface AddsContext {
  /** Those that decide for its hosts now. */
  readonly routes: readonly Route[];
  /** Those of the file into which an approval may be written, where that is not what decides now. */
  readonly bottleRoutes?: readonly Route[] | undefined;
  /** Of a budget: what the run may use now; without it, what the proposal says. */
  readonly limit?: number | null;
}

/**
 * What a proposal adds to the policy, in words that the agent has no part in.
 *
 * SECURITY: an operator decides by this. It tells what a pattern matches and which credential goes along, also where the proposal hides it (G-98)
 */
export function addsOf(kind: ProposalKind, proposed: Proposed, context: AddsContext): string {
  return SENTENCES[kind](proposed as never, context);
}

type Sentence<Kind extends ProposalKind> = (proposed: Proposed<Kind>, context: AddsContext) => string;

const SENTENCES: { readonly [Kind in ProposalKind]: Sentence<Kind> } = {
  "egress-block": ({ routes }, { routes: now, bottleRoutes }) => {
    const inRun = addedRoutes(routes, now);
    const inBottle = bottleRoutes && addedRoutes(routes, bottleRoutes);
    const reached = areReached(routes, now) ? REACHED : "";
    // SECURITY: what a file has for the host is not always what the run has, and a later run has what is in the file (G-185)
    if (inBottle !== undefined && inBottle !== inRun) return `${reached}${inRun}${IN_BOTTLE}${inBottle}`;
    return areReached(routes, bottleRoutes ?? now) ? `${reached}${inRun}` : inRun;
  },
  "capability-block": ({ packages = [], steps = [] }) =>
    [
      packages.length > 0 ? `It builds the environment anew with ${list(packages)}.` : "",
      steps.length > 0 ? `It runs as root while the environment is built: ${steps.map(quoted).join("; ")}.` : "",
    ]
      .filter(Boolean)
      .join(" "),
  "dlp-allow": ({ method, scheme, host, port, path, body_bytes: bytes, findings }) =>
    `Approved once, it lets one ${method} request with ${bytes} bytes go to ${scheme}://${host}:${port}${path} with ${list(found(findings))} in it. ` +
    `Approved for the run, it lets every request to ${scheme}://${host}:${port} pass in which the same is found, whatever its method, its path and the rest of it.`,
  // An operator who changes the resource leaves the limit of the other one there.
  budget: ({ resource, limit, more }, { limit: now }) =>
    `It lets the run use ${more} more ${BUDGET_WORDS[resource]}, ${(now ?? limit) + more} in all.`,
  "push-allow": ({ repo, refs, options = [], failures }) =>
    `It lets one push to ${repo} pass that changes ${list(refs.map(changed))}${options.length === 0 ? "" : `, with the options ${list(options.map(quoted))}`}, though the rules refuse it: ${failures.map(({ step, text }) => `${step}: ${text}`).join("; ")}.`,
};

/** Before a sentence that stays whole: what goes along is told also where nothing is added. */
const REACHED = "The run reaches it already: nothing is added. ";
const IN_BOTTLE = " Written into the bottle's file, for later runs: ";

/** What would be let out, whether it is reached already or not. Only the beginning is taken off, which nobody else can write. */
export const letOut = (sentence: string): string =>
  sentence.startsWith(REACHED) ? sentence.slice(REACHED.length) : sentence;

/** Whether a sentence says the same of a run, whatever it says of a file. */
export const isSameForRun = (sentence: string, other: string): boolean =>
  letOut(sentence).split(IN_BOTTLE, 1)[0] === letOut(other).split(IN_BOTTLE, 1)[0];

function addedRoutes(asked: Proposed<"egress-block">["routes"], routes: readonly Route[]): string {
  // SECURITY: a route begins with what those before it in the same proposal have added (G-180)
  let merged = routes;
  const sentences: string[] = [];
  for (const route of asked) {
    sentences.push(addedRoute(route, merged));
    merged = mergeRoutes(merged, [route], undefined);
  }
  return sentences.join(" ");
}

function found(findings: Proposed<"dlp-allow">["findings"]): string[] {
  const words = findings.map(({ rule, name, place }) =>
    name === null ? `what looks like ${rule} (${place})` : `the value of ${name} (${place})`,
  );
  return [...new Set(words)];
}

const NO_OBJECT = /^0+$/;
function changed({ ref, old, new: next }: Proposed<"push-allow">["refs"][number]): string {
  if (NO_OBJECT.test(next)) return `${shownName(shortRef(ref))} (deleted)`;
  const from = NO_OBJECT.test(old) ? "new" : old.slice(0, 12);
  return `${shownName(shortRef(ref))} (${from} → ${next.slice(0, 12)})`;
}

const quoted = (text: string): string => JSON.stringify(text);

export function list(words: readonly string[]): string {
  if (words.length <= 1) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1) ?? ""}`;
}
