import { failure } from "../model/error-codes.ts";
import { MANIFEST_NAME } from "../model/vocabulary.ts";

type Definitions = Readonly<Record<string, object>>;

/** Bottles and agents by their names, with the keys that their files have; an agent's `prompt` is the body of its file. */
export interface ManifestObject {
  readonly bottles?: Definitions | undefined;
  readonly agents?: Definitions | undefined;
}

const KEYS = ["bottles", "agents"] as const;

/** Bottles and agents that a program brings itself, in place of files. */
export class Manifest {
  readonly bottles: Definitions;
  readonly agents: Definitions;

  private constructor(bottles: Definitions, agents: Definitions) {
    this.bottles = bottles;
    this.agents = agents;
  }

  /**
   * Takes a copy. Throws MANIFEST_INVALID for what is no manifest. What a bottle or an agent says is checked when it is used, as in a file: what is broken stops
   * only what uses it.
   */
  static fromObject(object: ManifestObject): Manifest {
    if (!isObject(object)) throw invalid("a manifest is an object with bottles and agents");
    const unknown = Object.keys(object).find((key) => !(KEYS as readonly string[]).includes(key));
    if (unknown !== undefined) throw invalid(`unknown key "${unknown}"; allowed are ${KEYS.join(", ")}`);
    return new Manifest(definitions("bottles", object.bottles), definitions("agents", object.agents));
  }
}

function definitions(key: string, given: unknown): Definitions {
  if (given === undefined) return {};
  if (!isObject(given)) throw invalid(`"${key}" must be an object`);
  for (const [name, definition] of Object.entries(given)) {
    if (!MANIFEST_NAME.test(name))
      throw invalid(
        `"${key}" has a bad name, "${name}": it is 1 to 58 lower-case letters, digits or '-', and starts with a letter`,
      );
    if (!isObject(definition)) throw invalid(`"${key}.${name}" must be an object`);
  }
  return structuredClone(given) as Definitions;
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const invalid = (problem: string): Error =>
  failure("MANIFEST_INVALID", `Cannot use the manifest: ${problem}`, { hint: "Correct the object" });
