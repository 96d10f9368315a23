import { lstatSync, realpathSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { type GitOptions, type GitResult, runGit } from "../../git/git-command.ts";
import { failure } from "../../model/error-codes.ts";
import { fromByteText, quoted, toByteText, type ByteText } from "../../policy/byte-text.ts";
import { requireOwnRepository } from "./own-repository.ts";

const PURPOSE = { code: "CHECKOUT_INVALID", doing: "bring changes home" } as const;

export interface TrackedFile {
  readonly mode: string;
  readonly object: string;
}

/** A checkout of the host that changes come home to. */
export class Checkout {
  /** Its top, without links on the way. */
  readonly path: string;
  /** What stands before the paths of the folder that was asked for. */
  readonly prefix: ByteText;
  /** What git keeps of this checkout. */
  readonly gitDir: string;
  readonly #config: readonly (readonly [string, string])[];
  readonly #signal: AbortSignal;

  private constructor(
    place: { readonly path: string; readonly prefix: ByteText; readonly gitDir: string },
    config: readonly (readonly [string, string])[],
    signal: AbortSignal,
  ) {
    this.path = place.path;
    this.prefix = place.prefix;
    this.gitDir = place.gitDir;
    this.#config = config;
    this.#signal = signal;
  }

  static async open(folder: string, signal: AbortSignal): Promise<Checkout> {
    const top = findTop(folder);
    const place = { ...top, gitDir: requireOwnRepository(top.path) };
    const plain = new Checkout(place, [], signal);
    const isOne = await plain.git(["rev-parse", "--is-inside-work-tree"]);
    if (isOne.exitCode !== 0) throw noCheckout(folder, isOne.stderr);
    const named = await plain.git(["config", "-z", "--name-only", "--get-regexp", "^(filter|hook)\\."]);
    if (named.exitCode > 1) throw noCheckout(folder, named.stderr);
    return new Checkout(place, withoutPrograms(place.path, toByteText(named.stdout)), signal);
  }

  /** SECURITY: the work tree is always told, because a repository's own configuration may name any other folder (G-79). */
  async git(args: readonly string[], options: Partial<GitOptions> = {}): Promise<GitResult> {
    const where = [`--git-dir=${this.gitDir}`, `--work-tree=${this.path}`];
    return await runGit([...where, ...args], {
      signal: this.#signal,
      cwd: this.path,
      config: this.#config,
      purpose: PURPOSE,
      ...options,
    });
  }

  /** The same, for what has to work. */
  async must(args: readonly string[], options: Partial<GitOptions> = {}): Promise<Buffer> {
    const { exitCode, stdout, stderr } = await this.git(args, options);
    if (exitCode === 0) return stdout;
    throw failure("CHECKOUT_INVALID", `git ${args[0] ?? ""} failed in "${this.path}": ${stderr.slice(0, 500)}`);
  }

  /** Undefined where nothing was ever committed. */
  async head(): Promise<string | undefined> {
    const { exitCode, stdout } = await this.git(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
    return exitCode === 0 ? stdout.toString("utf8").trim() : undefined;
  }

  /** Files that are as they were committed; what is staged, changed or flagged is not among them. */
  async committedFiles(): Promise<ReadonlyMap<ByteText, TrackedFile>> {
    const files = new Map<ByteText, TrackedFile>();
    const listed = await this.must(["ls-files", "-z", "-v", "--stage"]);
    for (const line of listed.toString("latin1").split("\0")) {
      const match = /^(\S) (\d+) ([0-9a-f]+) 0\t(.*)$/s.exec(line);
      if (!match) continue;
      const [, flag, mode = "", object = "", path = ""] = match;
      // Of a file with another flag git does not look at what it holds.
      if (flag === "H") files.set(path, { mode, object });
    }
    const status = [
      "status",
      "--porcelain=v1",
      "-z",
      "--untracked-files=no",
      "--ignore-submodules=all",
      "--no-renames",
    ];
    const changed = await this.must(status);
    for (const line of changed.toString("latin1").split("\0")) files.delete(line.slice(3));
    return files;
  }

  /** All files of a commit. */
  async filesOf(commit: string): Promise<ReadonlyMap<ByteText, TrackedFile>> {
    const files = new Map<ByteText, TrackedFile>();
    const listed = await this.must(["ls-tree", "-r", "-z", commit]);
    for (const line of listed.toString("latin1").split("\0")) {
      const match = /^(\d+) \S+ ([0-9a-f]+)\t(.*)$/s.exec(line);
      if (match) files.set(match[3] ?? "", { mode: match[1] ?? "", object: match[2] ?? "" });
    }
    return files;
  }

  /** The content of objects, by their names. */
  async contents(objects: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const contents = new Map<string, Buffer>();
    if (objects.length === 0) return contents;
    const told = await this.must(["cat-file", "--batch"], { input: `${objects.join("\n")}\n` });
    for (let at = 0; at < told.length;) {
      const end = told.indexOf(0x0a, at);
      const match = /^([0-9a-f]+) blob (\d+)$/.exec(told.toString("latin1", at, end));
      if (!match) throw failure("CHECKOUT_INVALID", `git does not have all objects of "${this.path}"`);
      const size = Number(match[2]);
      contents.set(match[1] ?? "", told.subarray(end + 1, end + 1 + size));
      at = end + 1 + size + 1;
    }
    return contents;
  }

  /** Who commits here, by the user's own configuration. */
  async identity(): Promise<string> {
    const { exitCode, stdout } = await this.git(["var", "GIT_COMMITTER_IDENT"], { userConfig: true });
    const known = /^(.*<[^<>]*>) \d+ [+-]\d+$/s.exec(stdout.toString("utf8").trim());
    return exitCode === 0 && known?.[1] ? known[1] : "cloche <cloche@localhost>";
  }
}

/** The innermost folder at or above it that has a `.git`. */
function findTop(folder: string): { readonly path: string; readonly prefix: ByteText } {
  let real: string;
  try {
    real = realpathSync(folder);
  } catch (error) {
    throw noCheckout(folder, messageOf(error));
  }
  for (let at = real; ; at = dirname(at)) {
    if (lstatSync(join(at, ".git"), { throwIfNoEntry: false })) {
      const below = relative(at, real);
      return { path: at, prefix: below === "" ? "" : `${toByteText(below)}/` };
    }
    if (at === "/") throw noCheckout(folder, "");
  }
}

function noCheckout(folder: string, why: string): Error {
  return failure("CHECKOUT_INVALID", `"${folder}" is no git checkout${why === "" ? "" : `: ${why.slice(0, 300)}`}`);
}

/** SECURITY: a sandbox's `.gitattributes` chooses among the programs that are configured as filters, so none of them runs, and no configured hook (G-79). */
function withoutPrograms(top: string, names: ByteText): [string, string][] {
  const sections = new Set(
    names.split("\0").flatMap((name) => /^((?:filter|hook)\..*)\.[^.]*$/s.exec(name)?.[1] ?? []),
  );
  return [...sections].flatMap((section): [string, string][] => {
    const name = textOf(top, section);
    if (name.startsWith("hook.")) return [[`${name}.enabled`, "false"]];
    return [
      [`${name}.clean`, ""],
      [`${name}.smudge`, ""],
      [`${name}.process`, ""],
      [`${name}.required`, "false"],
    ];
  });
}

/** SECURITY: what stands in place of a setting goes to git as text; of a name that is none it would miss the setting, and the filter would run (G-140). */
function textOf(top: string, section: ByteText): string {
  const bytes = fromByteText(section);
  const text = bytes.toString("utf8");
  if (Buffer.from(text).equals(bytes)) return text;
  throw failure("CHECKOUT_INVALID", `The git settings of "${top}" have ${quoted(section)}, whose name is no UTF-8`, {
    hint: "Find it with `git config --show-origin --get-regexp '^(filter|hook)'`, and remove or rename it",
  });
}
