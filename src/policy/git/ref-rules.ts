import type { PushRules } from "../../model/git-policy.ts";
import { PathGlob } from "../path-glob.ts";
import { type PushFailure, failed } from "./push-failure.ts";
import { type PushCommand, isDeletion } from "./push-commands.ts";
import { shownName } from "./shown-name.ts";

const BRANCH = "refs/heads/";
const TAG = "refs/tags/";

/** As git itself has it (`git check-ref-format`), and no name that a program could take for an option. */
export function isRefName(ref: string): boolean {
  // eslint-disable-next-line no-control-regex -- these are what must not be in it
  if (/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\.$|\/$/.test(ref)) return false;
  return ref
    .split("/")
    .every((part) => part !== "" && !part.startsWith(".") && !part.startsWith("-") && !part.endsWith(".lock"));
}

export interface RefFacts {
  readonly command: PushCommand;
  /** Whether what was there is not a part of what is to be there. A tag stands for one state, so that every other one overwrites it. */
  readonly isForced: boolean;
}

/** What the rules of a repository say about the refs of a push. */
export function judgeRefs(rules: PushRules, facts: readonly RefFacts[]): PushFailure[] {
  return facts.flatMap(({ command, isForced }) => judgeRef(rules, command, isForced));
}

function judgeRef(rules: PushRules, command: PushCommand, isForced: boolean): PushFailure[] {
  const { ref } = command;
  // SECURITY: a name that git would not take, or that looks like an option, reaches no program (G-86)
  if (!isRefName(ref)) return [failed("refs", `${JSON.stringify(ref)} is no name for a branch or a tag`, ref)];
  const problems: string[] = [];
  if (ref.startsWith(TAG)) {
    if (rules.tags !== "allow")
      problems.push(`the tag ${shownName(ref.slice(TAG.length))} is denied: tags are not allowed`);
  } else if (ref.startsWith(BRANCH)) {
    const name = ref.slice(BRANCH.length);
    if (rules.branches && !rules.branches.some((glob) => matchesRef(glob, name)))
      problems.push(`the branch ${shownName(name)} is denied: allowed are ${rules.branches.join(", ")}`);
  } else problems.push(`${shownName(ref)} is neither a branch nor a tag`);
  if (isDeletion(command)) {
    if (rules.delete !== "allow") problems.push(`deleting ${shownName(shortRef(ref))} is denied`);
  } else if (isForced && rules.force !== "allow")
    problems.push(
      `${shownName(shortRef(ref))} is ${ref.startsWith(TAG) ? "there already" : "no fast-forward"}, and force is denied`,
    );
  return problems.map((problem) => failed("refs", problem, ref));
}

export const shortRef = (ref: string): string => ref.replace(/^refs\/(heads|tags)\//, "");

/**
 * `*` stands for anything, also for several parts of a name; every other character for itself.
 *
 * SECURITY: a push has a thousand names that a sandbox chose, and each takes time by its length alone (G-189)
 */
function matchesRef(glob: string, name: string): boolean {
  const [first = "", ...between] = glob.split("*");
  const last = between.pop();
  if (last === undefined) return name === glob;
  const end = name.length - last.length;
  if (end < first.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  // What comes first leaves most for what comes after it.
  let at = first.length;
  for (const part of between) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** What the rules say about paths and sizes. */
export class PathRules {
  readonly #allow: readonly PathGlob[] | undefined;
  readonly #deny: readonly PathGlob[];
  readonly maxFileBytes: number;
  readonly #maxFileMb: number | undefined;

  constructor({ paths, max_file_mb: maxFileMb }: PushRules) {
    this.#allow = paths?.allow?.map((glob) => new PathGlob(glob));
    this.#deny = (paths?.deny ?? []).map((glob) => new PathGlob(glob));
    this.#maxFileMb = maxFileMb;
    this.maxFileBytes = maxFileMb === undefined ? Number.POSITIVE_INFINITY : maxFileMb * 1024 * 1024;
  }

  /** Whether there is a path that they refuse. */
  get judgesPaths(): boolean {
    return this.#allow !== undefined || this.#deny.length > 0;
  }

  /** Why a change of that path is refused. */
  problemOf(path: string): string | undefined {
    const denied = this.#deny.find((glob) => glob.covers(path) === "all");
    if (denied) return `the path is denied by ${denied.text}`;
    if (this.#allow && !this.#allow.some((glob) => glob.covers(path) === "all"))
      return `the path is denied: allowed are ${this.#allow.map(({ text }) => text).join(", ")}`;
    return undefined;
  }

  sizeProblem(size: number): string | undefined {
    if (size <= this.maxFileBytes) return undefined;
    return `the file has ${(size / 1024 / 1024).toFixed(1)} MiB, and at most ${this.#maxFileMb ?? 0} are allowed`;
  }
}
