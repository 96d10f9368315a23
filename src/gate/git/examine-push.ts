import { type PushFailure, failed } from "../../policy/git/push-failure.ts";
import { isDeletion } from "../../policy/git/push-commands.ts";
import { PathRules, judgeRefs } from "../../policy/git/ref-rules.ts";
import { shownName } from "../../policy/git/shown-name.ts";
import { hiddenObjects, reachableObjects } from "./hidden-objects.ts";
import type { Examined } from "./examined-push.ts";
import { type JudgedChanges, judgePaths, tellFound } from "./judge-changes.ts";
import { type Looking, type PushedObjects, lookAtPack, lookBeyondPack } from "./pushed-objects.ts";
import { refFacts, wrongKinds } from "./ref-facts.ts";

/** A pack up to that size is looked at from all sides at once. */
const SMALL_PACK_BYTES = 4 * 1024 * 1024;

/** All that is wrong with a push that lies in quarantine. */
export async function examinePush(push: Examined): Promise<PushFailure[]> {
  const { repo, commands } = push;
  const names = scanNames(push);
  const tips = commands.filter((command) => !isDeletion(command)).map((command) => command.new);
  if (tips.length === 0) return [...judgeRefs(repo.rules, await refFacts(push, new Map())), ...names];
  const rules = new PathRules(repo.rules);
  const { objects, reachable, changes, problem } = await lookAround(push, tips, rules);
  const [ofKind, facts] = await Promise.all([
    wrongKinds(push, objects),
    refFacts(push, changes?.parents ?? new Map<string, readonly string[]>()),
  ]);
  const refs = judgeRefs(repo.rules, facts);
  if (ofKind.length > 0) return [...refs, ...names, ...ofKind];
  if (!objects || !reachable || !changes) throw problem;
  const [hidden, found] = await Promise.all([
    hiddenObjects(push, objects, reachable),
    tellFound(push, tips, rules, objects),
  ]);
  return [...refs, ...names, ...hidden, ...changes.failures, ...found, ...objects.authors];
}

interface Looks {
  readonly objects: PushedObjects | undefined;
  readonly reachable: ReadonlySet<string> | undefined;
  readonly changes: JudgedChanges | undefined;
  /** Why something of it is not there. */
  readonly problem: unknown;
}

/** What is in the pack, what its refs lead to wherever that lies, and what its commits change. The first that fails ends the others. Never rejects. */
async function lookAround(push: Examined, tips: readonly string[], rules: PathRules): Promise<Looks> {
  const { git, quarantine, repo, scan, identity } = push;
  const failing = new AbortController();
  const signal = AbortSignal.any([push.signal, failing.signal]);
  const progress = paced(push.onProgress);
  let problem: unknown;
  const unlessFailing = async <Value>(work: Promise<Value>): Promise<Value | undefined> => {
    try {
      return await work;
    } catch (error) {
      problem ??= error;
      failing.abort();
      return undefined;
    }
  };
  const looking: Looking = {
    scan,
    allowed: new Set(repo.allowed_findings),
    identity: repo.rules.authors === "any" ? null : identity,
    maxFileBytes: rules.maxFileBytes,
    signal,
    onProgress: (count, bytes) => progress(`scanned ${count} objects, ${Math.round(bytes / 1e6)} MB`),
  };
  const seen = unlessFailing(lookAtPack(git, quarantine, looking));
  const led = unlessFailing(reachableObjects({ ...push, signal }, tips));
  // SECURITY: the trees of a large pack are counted before anybody lists their paths (G-87)
  if (quarantine.packBytes > SMALL_PACK_BYTES) await seen;
  const judged = unlessFailing(judgePaths({ ...push, signal }, tips, rules));
  const beyond = async () => {
    const [objects, reachable] = await Promise.all([seen, led]);
    if (!objects || !reachable) return undefined;
    await lookBeyondPack(git, quarantine, looking, reachable, objects);
    return objects;
  };
  const [objects, reachable, changes] = await Promise.all([unlessFailing(beyond()), led, judged]);
  return { objects, reachable, changes, problem };
}

/** Says something at most twice a second. */
function paced(say: (text: string) => void): (text: string) => void {
  let last = performance.now();
  return (text) => {
    if (performance.now() - last < 500) return;
    last = performance.now();
    say(text);
  };
}

/** Names of refs, and what a client says along with its push. */
function scanNames({ scan, repo, commands, options }: Examined): PushFailure[] {
  return [...commands.map(({ ref }) => ref), ...options].flatMap((text) =>
    scan
      .file("", Buffer.from(text))
      .filter(({ severity, fingerprint }) => severity === "high" && !repo.allowed_findings.includes(fingerprint))
      .map(({ rule, fingerprint }) =>
        failed(
          "secrets",
          `${rule} in the name or option ${shownName(scan.redactText("path", text).value)}; fingerprint ${fingerprint}`,
        ),
      ),
  );
}
