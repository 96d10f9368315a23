import { readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf, messageOf } from "../base/errors.ts";
import { readPlainFile } from "../base/read-plain-file.ts";
import { failure } from "../model/error-codes.ts";
import { MANIFEST_NAME } from "../model/vocabulary.ts";
import { type Checked, checkAgent, checkBottle } from "../policy/bottles/check-definition.ts";
import { parseFrontMatter } from "../policy/bottles/front-matter.ts";
import type { FoundAgent, Manifest, NamedDefinition } from "./manifest.ts";
import { agentMissing, bottleMissing } from "./missing.ts";

const MAX_BYTES = 1024 * 1024;
const ENDING = ".md";

export const bottlesFolder = (home: string): string => join(home, "bottles");
export const agentsFolder = (home: string): string => join(home, "agents");
const projectFolder = (project: string): string => join(project, ".cloche");

/**
 * The files of the cloche home, and agents of the folder that the user stands in. Nothing is read before it is asked for.
 *
 * SECURITY: bottles are read from the home only. What comes with a project may name a bottle of the user's and never brings one, so a cloned repository cannot
 * widen what its agents reach, nor have a credential sent elsewhere (G-60)
 */
export function manifestFiles(home: string, project: string): Manifest {
  const own = [{ folder: agentsFolder(home), source: "home" as const, root: null }];
  const folders = isSame(home, projectFolder(project))
    ? own
    : [...own, { folder: agentsFolder(projectFolder(project)), source: "project" as const, root: project }];
  const bottles = () =>
    named(bottlesFolder(home)).map(
      (name) => ({ name, source: "home", path: fileOf(bottlesFolder(home), name) }) as const,
    );
  const agents = (): NamedDefinition[] => {
    const all = folders.flatMap(({ folder, source }) =>
      named(folder).map((name) => ({ name, source, path: fileOf(folder, name) })),
    );
    const first = new Map(all.toReversed().map((one) => [one.name, one]));
    return [...first.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  };
  return {
    bottle(name, child) {
      const file = fileOf(bottlesFolder(home), name);
      const text = isName(name) ? readText(file, null) : undefined;
      if (text === undefined) throw bottleMissing(name, child, bottles());
      return usable(file, text, checkBottle).definition;
    },
    agent(name) {
      for (const { folder, source, root } of folders) {
        const file = fileOf(folder, name);
        const text = isName(name) ? readText(file, root) : undefined;
        if (text !== undefined) return foundAgent(name, file, source, text);
      }
      throw agentMissing(name, agents(), ` in ${folders.map(({ folder }) => `"${folder}"`).join(" or ")}`);
    },
    bottles,
    agents,
    notes(agent) {
      const ignored = folders.length > 1 ? bottlesFolder(projectFolder(project)) : undefined;
      const [first, second] = folders.filter(({ folder }) => agent !== undefined && named(folder).includes(agent));
      return [
        ...(ignored !== undefined && entriesOf(ignored).length > 0
          ? [`"${ignored}" is ignored: a project cannot bring bottles. Those in "${bottlesFolder(home)}" count.`]
          : []),
        ...(first && second
          ? [`Agent "${agent ?? ""}" is taken from "${first.folder}"; the project has one of the same name.`]
          : []),
      ];
    },
  };
}

function foundAgent(name: string, path: string, source: "home" | "project", text: string): FoundAgent {
  const { definition, body } = usable(path, text, checkAgent);
  // The blank lines between the front matter and the text are the file's, not the prompt's.
  return { name, definition, prompt: body.trim() === "" ? "" : body.replace(/^\s*\n/, ""), source, path };
}

/** Throws what is wrong with a file, with its line. */
function usable<Definition>(
  file: string,
  text: string,
  check: (value: unknown) => Checked<Definition>,
): { readonly definition: Definition; readonly body: string } {
  const parsed = parseFrontMatter(text);
  if ("problem" in parsed) throw invalid(file, `line ${parsed.line}`, parsed.problem);
  const checked = check(parsed.value);
  if ("problem" in checked) throw invalid(file, `line ${parsed.lineOf(checked.path)}`, checked.problem);
  return { definition: checked.definition, body: parsed.body };
}

const invalid = (file: string, place: string, problem: string): Error =>
  failure("MANIFEST_INVALID", `Cannot use "${file}", ${place}: ${problem}`, {
    // As `cloche edit` takes them: agents/NAME or bottles/NAME.
    hint: `\`cloche edit ${basename(dirname(file))}/${basename(file, ENDING)}\` opens it and checks it again`,
  });

const fileOf = (folder: string, name: string): string => join(folder, `${name}${ENDING}`);
const isName = (name: string): boolean => MANIFEST_NAME.test(name);

/** Undefined when there is no such file. `root` is the folder that it must not lead out of. */
function readText(file: string, root: string | null): string | undefined {
  try {
    // SECURITY: the body of an agent goes into a sandbox, so a project's link to a file of the user's is not followed (G-61)
    if (root !== null && !`${realpathSync(file)}/`.startsWith(`${realpathSync(root)}/`))
      throw new Error("it is a link that leads out of the project");
    return readPlainFile(file, MAX_BYTES).toString("utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return undefined;
    throw failure("MANIFEST_INVALID", `Cannot read "${file}": ${messageOf(error)}`, { cause: error });
  }
}

/** The names of definitions in a folder. A file of another name is nobody's. */
const named = (folder: string): string[] =>
  entriesOf(folder)
    .flatMap((entry) => (entry.endsWith(ENDING) ? [entry.slice(0, -ENDING.length)] : []))
    .filter(isName)
    .sort();

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // none there, or not ours to read: then nothing in it counts
  }
}

function isSame(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false; // one of them is not there
  }
}
