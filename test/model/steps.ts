import { createRandom, type Random } from "../helpers/random.ts";
import { printed, quoted, word } from "./shell-words.ts";

/** A member of a tree that is pushed. Bytes of its path are one character each. */
export interface Member {
  readonly type: "file" | "directory" | "symlink";
  readonly path: string;
  readonly mode: number;
  /** Of a file its content, of a link its target. */
  readonly text: string;
}

/** What can be done to a workspace. Each makes sense, or fails on both sides, whatever came before: so any part of a sequence is one. */
export type Step =
  | { readonly verb: "exec"; readonly script: string }
  | { readonly verb: "write"; readonly path: string; readonly text: string; readonly mode: number | undefined }
  /** What the script changes, as a patch. */
  | { readonly verb: "patch"; readonly script: string }
  | { readonly verb: "push"; readonly dest: string; readonly members: readonly Member[]; readonly many: number }
  /** `live`: with what runs, where the backend can. */
  | { readonly verb: "snapshot"; readonly name: string; readonly live: boolean }
  | { readonly verb: "forget"; readonly name: string }
  | { readonly verb: "reset"; readonly name: string | undefined }
  | { readonly verb: "fork"; readonly name: string | undefined; readonly stay: boolean }
  | { readonly verb: "move"; readonly to: number }
  | { readonly verb: "export"; readonly path: string }
  | { readonly verb: "stop" | "start" | "diff" | "new-daemon" };

export interface Sequence {
  readonly baseline: readonly Member[];
  readonly steps: readonly Step[];
}

const NAMES = ["a", "b", "c", "a", "b", "c", "d e", "-f", ".h", "*", "'q'", 'd"q', "$v", "b\\s", "t\tb", "n\nl"];
/** UTF-8, what is none, and the longest. */
const LONGEST = "x".repeat(255);
const ODD_NAMES = ["\xc3\xbc", "\xff\xfe", LONGEST, "\xe2\x80\xae", "...", " "];
const FILE_MODES = [0o644, 0o755, 0o600, 0o640, 0o444, 0o4755, 0o664, 0];
const FOLDER_MODES = [0o755, 0o700, 0o750, 0o775, 0o555, 0o1777, 0];
const SNAPSHOTS = ["s1", "s2", "s3"];
/** Sizes at which something is cut into pieces. */
const SIZES = [0, 1, 4096, 16_384, 65_535, 65_536, 65_537, 300_000, 1_048_577];

const WEIGHTS = {
  ...{ exec: 24, write: 8, patch: 8, push: 8, snapshot: 7, forget: 3, reset: 6, fork: 4, move: 3 },
  ...{ stop: 3, start: 3, export: 6, diff: 8, "new-daemon": 1 },
} as const satisfies Record<Step["verb"], number>;

export function randomSequence(seed: number, length: number): Sequence {
  const make = new StepMaker(createRandom(seed));
  // A machine's disk cannot be made of names of that length; see docs/limitations.md.
  const baseline = make.members(12).filter(({ path }) => !path.includes(LONGEST));
  return { baseline, steps: Array.from({ length }, () => make.step()) };
}

class StepMaker {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  step(): Step {
    const verb = this.#verb();
    switch (verb) {
      case "exec":
        return { verb, script: this.#script(() => this.#change()) };
      case "write":
        return {
          verb,
          path: this.#path(),
          text: this.#text(),
          mode: this.#random(3) ? undefined : this.#fileMode() & 0o777,
        };
      case "patch":
        return { verb, script: this.#script(() => this.#edit()) };
      case "push":
        return this.#push();
      case "snapshot":
        return { verb, name: this.#pick(SNAPSHOTS), live: this.#random(3) === 0 };
      case "forget":
        return { verb, name: this.#pick(SNAPSHOTS) };
      case "reset":
        return { verb, name: this.#pick([...SNAPSHOTS, undefined]) };
      case "fork":
        return { verb, name: this.#pick([...SNAPSHOTS, undefined, undefined]), stay: this.#random(2) === 0 };
      case "move":
        return { verb, to: this.#random(1000) };
      case "export":
        return { verb, path: this.#random(2) ? "" : this.#path() };
      default:
        return { verb };
    }
  }

  /** A tree with parents first. */
  members(most: number): Member[] {
    const folders = [""];
    const members = new Map<string, Member>();
    for (let left = 1 + this.#random(most); left > 0; left--) {
      const folder = this.#pick(folders);
      const path = folder === "" ? this.#name() : `${folder}/${this.#name()}`;
      if (members.has(path)) continue;
      const type = this.#pick(["file", "file", "directory", "symlink"] as const);
      if (type === "directory") folders.push(path);
      const mode = this.#pick(type === "directory" ? [0o755, 0o700, 0o555] : [0o644, 0o755, 0o600, 0o444]);
      members.set(path, { type, path, mode, text: type === "symlink" ? this.#target() : this.#text() });
    }
    return [...members.values()];
  }

  #push(): Step {
    const many = this.#random(6) === 0 ? 1 + this.#random(1500) : 0;
    const dest = many > 0 ? "many" : this.#random(2) ? "" : this.#path();
    return { verb: "push", dest, members: many > 0 ? [] : this.members(10), many };
  }

  #script(line: () => string): string {
    return Array.from({ length: 1 + this.#random(6) }, line).join("\n");
  }

  /** One command that changes something; what it cannot do, it cannot do on both sides. */
  #change(): string {
    const [p, q] = [this.#path(), this.#path()];
    const apart = !`${p}/`.startsWith(`${q}/`) && !`${q}/`.startsWith(`${p}/`);
    const [one, other] = [quoted(p), quoted(q)];
    const mode = this.#fileMode().toString(8);
    const folderMode = this.#pick(FOLDER_MODES).toString(8);
    const lines = [
      `rm -rf ${one}`,
      `mkdir -p ${one}`,
      `rm -rf ${one}; mkdir -p ${one}`,
      `rm -rf ${one}; mkdir -p ${one}; echo new > ${one}/b`,
      `${printed(this.#text())} > ${one}`,
      `${printed(this.#text())} >> ${one}`,
      `ln -sfn -- ${word(this.#target())} ${one}`,
      `rm -rf ${one}; ln -s -- ${word(this.#target())} ${one}`,
      `[ -L ${one} ] || if [ -d ${one} ]; then chmod ${folderMode} ${one}; else chmod ${mode} ${one}; fi`,
      `head -c ${this.#pick(SIZES)} /dev/zero | tr '\\0' z > ${one}`,
      `truncate -s ${this.#pick(SIZES)} ${one}`,
      `printf '\\0\\1\\377' | dd of=${one} bs=1 seek=${this.#pick(SIZES)} conv=notrunc`,
      `find . -name ${word(this.#name())} -delete`,
      `touch ${one}`,
      ...(apart ? [`movable ${one} && mv -fT ${one} ${other}`, `movable ${one} && cp -a ${one} ${other}`] : []),
      ...(apart ? [`movable ${one} && mv -f ${one} ${other}`] : []),
    ];
    return lines[this.#random(lines.length)] ?? ":";
  }

  /** A change that a patch can tell: of text, in files of an ordinary mode. */
  #edit(): string {
    const [one, other] = [quoted(this.#path()), quoted(this.#path())];
    const lines = [
      `ordinary ${one} && echo more >> ${one}`,
      `ordinary ${one} && sed -i 1d ${one}`,
      `ordinary ${one} && rm ${one}`,
      `ordinary ${one} && chmod 755 ${one}`,
      `ordinary ${one} && [ ! -e ${other} ] && mv -T ${one} ${other}`,
      `[ -e ${one} ] || [ -L ${one} ] || ${printed(this.#text())} > ${one}`,
      `[ -e ${one} ] || [ -L ${one} ] || { mkdir -p ${one}; printf 'a\\nb\\n' > ${one}/a; }`,
      `[ -L ${one} ] && rm ${one}`,
      `[ -e ${one} ] || [ -L ${one} ] || ln -s -- ${word(this.#target())} ${one}`,
    ];
    return this.#pick(lines);
  }

  #verb(): Step["verb"] {
    const verbs = Object.entries(WEIGHTS) as [Step["verb"], number][];
    let at = this.#random(verbs.reduce((sum, [, weight]) => sum + weight, 0));
    return verbs.find(([, weight]) => (at -= weight) < 0)?.[0] ?? "exec";
  }

  #path(): string {
    return Array.from({ length: 1 + this.#random(3) }, () => this.#name()).join("/");
  }

  #name(): string {
    return this.#pick(this.#random(10) === 0 ? ODD_NAMES : NAMES);
  }

  #fileMode(): number {
    return this.#pick(FILE_MODES);
  }

  #target(): string {
    const length = 1 + this.#random(4000);
    return this.#pick([this.#path(), `../${this.#path()}`, "/nowhere/else", ".", this.#name(), "t".repeat(length)]);
  }

  #text(): string {
    const lines = Array.from({ length: this.#random(8) }, () => `line ${this.#random(5)}`);
    return lines.join("\n") + (this.#random(4) ? "\n" : "");
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#random(items.length)] as T;
  }
}
