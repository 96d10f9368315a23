import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, lstatSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeModel } from "./remove-model.ts";
import { printed, quoted, SHELL_PRELUDE, word } from "./shell-words.ts";
import type { Member } from "./steps.ts";

/** The user of every sandbox. */
const AGENT = { uid: 1000, gid: 1000 };
/** No repository around is found, and no configuration. */
const ENV = { PATH: "/usr/bin:/bin", HOME: "/nonexistent", GIT_CEILING_DIRECTORIES: "/" };

/** One thing in a tree: its kind and mode, and the digest of its content or its target. */
export interface Seen {
  readonly kind: "f" | "d" | "l";
  readonly mode: number;
  readonly size: number;
  readonly content: string;
}

/** By path, in which each byte is one character. */
export type Picture = ReadonlyMap<string, Seen>;

/** Prints all that there is, as far as the user may see it; the same program on both sides. */
export const LOOK = `export LC_ALL=C
find . -mindepth 1 -printf '%y %m %s %P\\0%l\\0' 2>/dev/null | base64 -w0; echo
find . -type f -print0 2>/dev/null | xargs -0 -r sha256sum -z 2>/dev/null | base64 -w0; echo
`;

export function readLook(output: string): Picture {
  const [entries = [], digests = []] = output
    .split("\n")
    .map((line) => Buffer.from(line, "base64").toString("latin1").split("\0"));
  const contents = new Map(digests.map((line) => [line.slice(64 + 4), line.slice(0, 64)]));
  const picture = new Map<string, Seen>();
  for (let at = 0; at + 1 < entries.length; at += 2) {
    const [, kind = "", mode = "", size = "", path = ""] = /^(.) (\d+) (\d+) (.*)$/s.exec(entries[at] ?? "") ?? [];
    const content = kind === "l" ? (entries[at + 1] ?? "") : kind === "f" ? (contents.get(path) ?? "closed") : "";
    picture.set(path, {
      ...{ kind: kind as Seen["kind"], content },
      mode: kind === "l" ? 0o777 : parseInt(mode, 8),
      size: kind === "d" ? 0 : Number(size),
    });
  }
  return picture;
}

/** What a workspace is to be: a folder of the host, its first state and its saved ones, changed by ordinary programs as the sandbox's user. */
export class PlainFolder {
  readonly #root: string;
  #copies = 0;
  #saved = new Set<string>();

  constructor(root: string, baseline: readonly Member[]) {
    this.#root = root;
    mkdirSync(root);
    chmodSync(root, 0o755);
    const first = this.#folder("baseline");
    mkdirSync(first);
    chownSync(first, AGENT.uid, AGENT.gid);
    if (!run(first, putScript("", baseline, 0))) throw new Error("the baseline cannot be made");
    this.#copy(first, this.current);
  }

  get current(): string {
    return this.#folder("current");
  }

  look(): Picture {
    return lookAt(this.current);
  }

  lookAtBaseline(): Picture {
    return lookAt(this.#folder("baseline"));
  }

  /** Whatever comes of it stays. */
  exec(script: string): void {
    run(this.current, script);
  }

  /** All of it or nothing; whether it could be done. */
  async attempt(script: string): Promise<boolean> {
    const copy = this.#copyOf(this.current);
    if (!run(copy, `set -e\n${script}`)) {
      await removeModel(copy);
      return false;
    }
    await removeModel(this.current);
    renameSync(copy, this.current);
    return true;
  }

  has(name: string): boolean {
    return this.#saved.has(name);
  }

  save(name: string): void {
    this.#copy(this.current, this.#folder(`saved-${name}`));
    this.#saved.add(name);
  }

  async forget(name: string): Promise<void> {
    this.#saved.delete(name);
    await removeModel(this.#folder(`saved-${name}`));
  }

  async forgetAll(): Promise<void> {
    for (const name of this.#saved) await this.forget(name);
  }

  async restore(name: string | undefined): Promise<void> {
    await removeModel(this.current);
    this.#copy(this.#folder(name === undefined ? "baseline" : `saved-${name}`), this.current);
  }

  /** By a folder that is the model's from here on. */
  async replace(folder: string): Promise<void> {
    await removeModel(this.current);
    renameSync(folder, this.current);
  }

  /** What a script changes, as git tells it; undefined when it is nothing, or no text. */
  async patchOf(script: string): Promise<string | undefined> {
    const work = this.#copyOf(this.current);
    const options = { cwd: work, encoding: "utf8", env: ENV } as const;
    const git = (...args: string[]) =>
      execFileSync("git", [`--git-dir=${work}.git`, "--work-tree=.", ...args], options).trimEnd();
    git("init", "--quiet");
    const tree = () => {
      git("add", "--all");
      return git("write-tree");
    };
    const before = tree();
    run(work, script);
    const patch = git("diff", before, tree());
    await removeModel(work);
    await removeModel(`${work}.git`);
    return patch === "" || /^Binary files /m.test(patch) ? undefined : `${patch}\n`;
  }

  /** The baseline with a patch applied by git, which has to take it; undefined where git stumbles over a link of the baseline that leads nowhere. */
  async patchedBaseline(patch: string): Promise<Picture | undefined> {
    const copy = this.#copyOf(this.#folder("baseline"));
    try {
      run(copy, "find . -mindepth 1 -type d -empty -delete"); // git knows none
      const argv = ["apply", "--whitespace=nowarn", "-"];
      const { status, stderr } = spawnSync("git", argv, {
        cwd: copy,
        env: ENV,
        ...AGENT,
        input: patch,
        encoding: "utf8",
      });
      if (/File name too long|Too many levels of symbolic links/.test(stderr)) return undefined;
      if (status !== 0) throw new Error(`git does not take the patch of the diff: ${stderr}`);
      return lookAt(copy);
    } finally {
      await removeModel(copy);
    }
  }

  #folder(name: string): string {
    return join(this.#root, name);
  }

  #copyOf(folder: string): string {
    const copy = this.#folder(`copy-${++this.#copies}`);
    this.#copy(folder, copy);
    return copy;
  }

  #copy(from: string, to: string): void {
    execFileSync("cp", ["-a", from, to]);
  }
}

function run(folder: string, script: string): boolean {
  const argv = ["-c", `${SHELL_PRELUDE}${script}`];
  return spawnSync("sh", argv, { cwd: folder, env: ENV, ...AGENT, stdio: "ignore" }).status === 0;
}

/** As the sandbox's user sees it, or as we do. */
export function lookAt(folder: string, who: "agent" | "root" = "agent"): Picture {
  const user = who === "agent" ? AGENT : {};
  const options = { cwd: folder, encoding: "utf8", maxBuffer: 64 * 1024 * 1024, ...user } as const;
  return readLook(spawnSync("sh", ["-c", LOOK], options).stdout);
}

/** Whether a link is on the way to a path, or the path itself is one. */
export function passesLink(folder: string, path: string): boolean {
  const parts = path.split("/");
  return parts.some((_, at) => isLink(hostPath(folder, parts.slice(0, at + 1).join("/"))));
}

function isLink(path: Buffer): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false; // nothing there
  }
}

export const hostPath = (folder: string, path: string): Buffer =>
  Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path, "latin1")]);

/** A script that writes a file as the verb does: parents are made, the old mode is kept unless another is given. */
export function writeScript(path: string, text: string, mode: number | undefined): string {
  const file = quoted(path);
  const folder = quoted(path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".");
  return `[ ! -d ${file} ]
mkdir -p ${folder}
mode=${mode === undefined ? `$(stat -c %a ${file} 2>/dev/null || echo 644)` : mode.toString(8)}
${printed(text)} > ${folder}/.being-written
chmod $mode ${folder}/.being-written
mv -fT ${folder}/.being-written ${file}`;
}

/** A script that puts a tree in place as a push does: files and links are replaced, folders stay, and nothing becomes another kind. */
export function putScript(dest: string, members: readonly Member[], many: number): string {
  const lines = dest === "" ? [] : [`mkdir -p ${quoted(dest)}`, `cd ${quoted(dest)}`];
  const modes: string[] = [];
  for (const { type, path, mode, text } of members) {
    const at = quoted(path);
    if (type === "directory") {
      lines.push(`[ ! -L ${at} ]`, `if [ -d ${at} ]; then :; else mkdir -m 700 ${at}; touch ${at}/.is-new; fi`);
      // The seed's owner can always write.
      modes.unshift(
        `if [ -e ${at}/.is-new ]; then rm ${at}/.is-new; chmod ${((mode & 0o777) | 0o700).toString(8)} ${at}; fi`,
      );
      continue;
    }
    lines.push(`[ -L ${at} ] || [ ! -d ${at} ]`, `rm -f ${at}`);
    if (type === "symlink") lines.push(`ln -s -- ${word(text)} ${at}`);
    else lines.push(`${printed(text)} > ${at}`, `chmod ${((mode & 0o777) | 0o600).toString(8)} ${at}`);
  }
  if (many > 0)
    lines.push(`i=0; while [ $i -lt ${many} ]; do rm -f f$i; echo $i > f$i; chmod 644 f$i; i=$((i+1)); done`);
  return [...lines, ...modes].join("\n");
}

/** The same tree as a folder of the host, to be pushed. */
export function makeSource(folder: string, members: readonly Member[], many: number): void {
  mkdirSync(folder);
  for (const { type, path, text } of members) {
    const at = hostPath(folder, path);
    if (type === "directory") mkdirSync(at);
    else if (type === "symlink") symlinkSync(Buffer.from(text, "latin1"), at);
    else writeFileSync(at, text);
  }
  for (const { type, path, mode } of members.toReversed())
    if (type !== "symlink") chmodSync(hostPath(folder, path), mode);
  for (let i = 0; i < many; i++) writeFileSync(join(folder, `f${i}`), `${i}\n`, { mode: 0o644 });
}

/** What a diff has to tell, as `STATUS PATH`, by looking at everything. */
export function changesBetween(before: Picture, now: Picture): string[] {
  const closed = [...now].flatMap(([path, { kind, mode }]) => (kind === "d" && (mode & 0o500) !== 0o500 ? [path] : []));
  const isHidden = (path: string) => closed.some((folder) => path.startsWith(`${folder}/`));
  const found = closed.map((path) => `modified ${path}`);
  for (const path of new Set([...before.keys(), ...now.keys()])) {
    if (isHidden(path) || closed.includes(path)) continue;
    const was = before.get(path);
    const is = now.get(path);
    if (was && is && was.kind !== is.kind) found.push(`type_changed ${path}`);
    else if (!was && is && is.kind !== "d") found.push(`added ${path}`);
    else if (was && !is && was.kind !== "d") found.push(`deleted ${path}`);
    else if (was && is && was.kind !== "d" && (was.mode !== is.mode || was.content !== is.content))
      found.push(`modified ${path}`);
  }
  return found.sort();
}

/** A few lines about what is not the same; none when all is. */
export function differences(expected: Picture, found: Picture): string[] {
  const show = (seen: Seen | undefined) =>
    seen === undefined ? "nothing" : `${seen.kind} ${seen.mode.toString(8)} ${seen.size} ${seen.content.slice(0, 16)}`;
  return [...new Set([...expected.keys(), ...found.keys()])]
    .map((path) => [path, show(expected.get(path)), show(found.get(path))] as const)
    .filter(([, one, other]) => one !== other)
    .slice(0, 8)
    .map(([path, one, other]) => `${JSON.stringify(path)}: ${one} expected, ${other} found`);
}
