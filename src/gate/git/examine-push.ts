import type { GateIdentity, GateRepo } from "../../model/git-order.ts";
import type { Scan } from "../../policy/dlp/detector.ts";
import { type PushFailure, failed } from "../../policy/git/push-failure.ts";
import { type PushCommand, isCreation, isDeletion } from "../../policy/git/push-commands.ts";
import { PathRules, judgeRefs } from "../../policy/git/ref-rules.ts";
import type { HostGit } from "./host-git.ts";
import { type ObjectFinding, type PushedObjects, lookAtObjects } from "./pushed-objects.ts";
import { pushedChanges } from "./pushed-changes.ts";
import { MAX_CHANGES } from "./limits.ts";
import { PackRefused, type Quarantine } from "./quarantine.ts";
import { Slots } from "../../base/slots.ts";

const PATHS_AT_ONCE = 64 * 1024;
const MAX_TOLD_PATHS = 1000;
/** Beyond that they are forgotten, and some are looked at twice. */
const MAX_REMEMBERED_PATHS = 100_000;

export interface Examined {
  readonly git: HostGit;
  readonly quarantine: Quarantine;
  readonly repo: GateRepo;
  readonly commands: readonly PushCommand[];
  readonly options: readonly string[];
  readonly hasPack: boolean;
  readonly scan: Scan;
  readonly identity: GateIdentity | null;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

/** All that is wrong with a push that lies in quarantine. */
export async function examinePush(push: Examined): Promise<PushFailure[]> {
  const { repo, commands, scan } = push;
  const names = scanNames(scan, [...commands.map(({ ref }) => ref), ...push.options]);
  const [facts, ofKind] = await Promise.all([refFacts(push), wrongKinds(push)]);
  const refs = judgeRefs(repo.rules, facts);
  const tips = commands.filter((command) => !isDeletion(command)).map((command) => command.new);
  if (tips.length === 0) return [...refs, ...names];
  if (ofKind.length > 0) return [...refs, ...names, ...ofKind];
  const rules = new PathRules(repo.rules);
  const progress = paced(push.onProgress);
  const [objects, reachable] = await Promise.all([
    push.hasPack
      ? lookAtObjects(push.git, push.quarantine, {
          scan,
          identity: repo.rules.authors === "any" ? null : push.identity,
          maxFileBytes: rules.maxFileBytes,
          signal: push.signal,
          onProgress: (count, bytes) => progress(`scanned ${count} objects, ${Math.round(bytes / 1e6)} MB`),
        })
      : undefined,
    reachableObjects(push, tips),
  ]);
  const changes = await judgeChanges(push, tips, rules, objects);
  return [
    ...refs,
    ...names,
    ...(objects ? await hiddenObjects(push, objects, reachable) : []),
    ...changes,
    ...(objects?.authors ?? []),
  ];
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

async function refFacts({
  git,
  quarantine,
  commands,
}: Examined): Promise<{ command: PushCommand; isForced: boolean }[]> {
  const slots = new Slots(2);
  return await Promise.all(
    commands.map(async (command) => {
      if (isCreation(command) || isDeletion(command)) return { command, isForced: false };
      const words = ["merge-base", "--is-ancestor", command.old, command.new];
      const { code } = await slots.during(() => git.run(words, quarantine.both));
      return { command, isForced: code !== 0 };
    }),
  );
}

/** A branch is a commit; a tag is one or leads to one. */
async function wrongKinds({ git, quarantine, commands }: Examined): Promise<PushFailure[]> {
  const made = commands.filter((command) => !isDeletion(command));
  if (made.length === 0) return [];
  const input = made.map(({ ref, new: id }) => `${id}${ref.startsWith("refs/tags/") ? "^{commit}" : ""}\n`).join("");
  const { stdout } = await git.run(["cat-file", "--batch-check=%(objecttype)"], { ...quarantine.both, input });
  const kinds = stdout.toString().split("\n");
  return made.flatMap(({ ref }, at) =>
    kinds[at] === "commit" ? [] : [failed("refs", `${ref} does not lead to a commit`, ref)],
  );
}

/** What the refs of the push need and the upstream has not. Throws when something of it is missing. */
async function reachableObjects(
  { git, quarantine, signal }: Examined,
  tips: readonly string[],
): Promise<ReadonlySet<string>> {
  const running = git.start(["rev-list", "--objects", "--stdin", "--not", "--all"], {
    ...quarantine.both,
    signal,
    input: tips.map((tip) => `${tip}\n`).join(""),
  });
  const ids = new Set<string>();
  let rest = "";
  for await (const chunk of running.stdout as AsyncIterable<Buffer>) {
    const lines = (rest + chunk.toString("latin1")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) ids.add(line.slice(0, 40));
  }
  const { code, said } = await running.ended;
  if (code !== 0) throw new PackRefused(`it is not whole: ${said.trim().split("\n").at(-1)?.slice(0, 200) ?? ""}`);
  return ids;
}

/** SECURITY: what nobody would see in any branch is not carried to the upstream either (G-89) */
async function hiddenObjects(
  { git, quarantine }: Examined,
  { ids }: PushedObjects,
  reachable: ReadonlySet<string>,
): Promise<PushFailure[]> {
  const others = ids.filter((id) => !reachable.has(id));
  if (others.length === 0) return [];
  // Objects of the mirror's come along where a pack was made against them.
  const { repository } = quarantine.both;
  const input = others.map((id) => `${id}\n`).join("");
  const { stdout } = await git.run(["cat-file", "--batch-check"], { repository, input });
  const hidden = stdout
    .toString()
    .split("\n")
    .flatMap((line) => /^([0-9a-f]{40}) missing$/.exec(line)?.[1] ?? []);
  if (hidden.length === 0) return [];
  const some = hidden.slice(0, 3).map((id) => id.slice(0, 12));
  return [failed("hidden", `the pack has ${hidden.length} objects that no pushed ref leads to: ${some.join(", ")}`)];
}

/** What was found, with the file and the commit that brought it in; and what the rules say about paths. */
async function judgeChanges(
  { git, quarantine, scan, repo, signal }: Examined,
  tips: readonly string[],
  rules: PathRules,
  objects: PushedObjects | undefined,
): Promise<PushFailure[]> {
  const findings = (objects?.findings ?? []).filter(
    ({ finding }) => !repo.allowed_findings.includes(finding.fingerprint),
  );
  const wanted = new Set([...findings.map(({ id }) => id), ...(objects?.large.keys() ?? [])]);
  const where = new Map<string, { path: string; commit: string }>();
  const paths = new Map<string, string>();
  const texts = new PathTexts(scan, repo.allowed_findings);
  let count = 0;
  for await (const { commit, path, blob } of pushedChanges(git, quarantine, tips, signal)) {
    // SECURITY: a few trees that hold each other many times are more paths than anybody could read (G-87)
    if (++count > MAX_CHANGES) throw new PackRefused(`its commits change more than ${MAX_CHANGES} paths`);
    // The newest comes first, so the one that brought it in is the last that is told.
    if (blob !== undefined && wanted.has(blob)) where.set(blob, { path, commit });
    if (paths.size < MAX_TOLD_PATHS && rules.problemOf(path) !== undefined) paths.set(path, commit);
    texts.add(path, commit);
  }
  const shown = (text: string) => scan.redactText("path", text).value;
  return [
    ...[...paths].map(([path, commit]) =>
      failed("paths", `${shown(path)} in commit ${commit.slice(0, 12)}: ${rules.problemOf(path) ?? ""}`),
    ),
    ...[...(objects?.large ?? [])].map(([id, size]) => {
      const { path, commit } = where.get(id) ?? { path: `object ${id}`, commit: "" };
      return failed("paths", `${shown(path)} in commit ${commit.slice(0, 12)}: ${rules.sizeProblem(size) ?? ""}`);
    }),
    ...findings.map((one) => failed("secrets", findingText(one, where.get(one.id), shown))),
    ...texts.failures(shown),
  ];
}

function findingText(
  { id, type, finding }: ObjectFinding,
  place: { path: string; commit: string } | undefined,
  shown: (text: string) => string,
): string {
  const { rule, name, line, view, fingerprint } = finding;
  const what = name === undefined ? rule : `${rule} ${name}`;
  const how = view === "raw" ? "" : ` (${view})`;
  const at =
    type === "blob"
      ? place
        ? `${shown(place.path)}:${line}, commit ${place.commit.slice(0, 12)}`
        : `object ${id.slice(0, 12)}, line ${line}`
      : `the text of ${type} ${id.slice(0, 12)}, line ${line}`;
  return `${what}${how} in ${at}; fingerprint ${fingerprint}`;
}

/** Names of refs, and what a client says along with its push. */
function scanNames(scan: Scan, texts: readonly string[]): PushFailure[] {
  return texts.flatMap((text) => {
    const found = scan.file("", Buffer.from(text)).find(({ severity }) => severity === "high");
    return found
      ? [failed("secrets", `${found.rule} in the name or option ${scan.redactText("path", text).value}`)]
      : [];
  });
}

/** Names of files may be secrets too; many are looked at together. */
class PathTexts {
  readonly #scan: Scan;
  readonly #allowed: readonly string[];
  readonly #seen = new Set<string>();
  #waiting: { path: string; commit: string }[] = [];
  #size = 0;
  readonly #found = new Map<string, { rule: string; commit: string }>();

  constructor(scan: Scan, allowed: readonly string[]) {
    this.#scan = scan;
    this.#allowed = allowed;
  }

  add(path: string, commit: string): void {
    if (this.#seen.has(path)) return;
    if (this.#seen.size >= MAX_REMEMBERED_PATHS) this.#seen.clear();
    this.#seen.add(path);
    this.#waiting.push({ path, commit });
    this.#size += path.length + 1;
    if (this.#size > PATHS_AT_ONCE) this.#look();
  }

  failures(shown: (text: string) => string): PushFailure[] {
    this.#look();
    return [...this.#found].map(([path, { rule, commit }]) =>
      failed("secrets", `${rule} in the name of ${shown(path)}, commit ${commit.slice(0, 12)}`),
    );
  }

  #look(): void {
    const text = Buffer.from(this.#waiting.map(({ path }) => path.replaceAll("\n", " ")).join("\n"));
    for (const { severity, rule, line, fingerprint } of this.#scan.file("", text)) {
      const one = this.#waiting[line - 1];
      if (severity === "high" && one && !this.#allowed.includes(fingerprint))
        this.#found.set(one.path, { rule, commit: one.commit });
    }
    this.#waiting = [];
    this.#size = 0;
  }
}
