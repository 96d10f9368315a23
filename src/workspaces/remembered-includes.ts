import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeFileAtomic } from "../base/atomic-write.ts";
import { errnoOf, messageOf } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import { IncludeGlob } from "../model/seed-content.ts";
import type { IncludeRules } from "../policy/seed-include.ts";

/** By the real path of the project. */
const Remembered = z.record(
  z.string(),
  z.strictObject({ include_ignored: z.boolean(), include: z.array(IncludeGlob) }),
);
type Remembered = z.infer<typeof Remembered>;

/**
 * `seed-includes.json` in the home: what users have said to bring along of each project.
 * SECURITY: kept in the home and never read from a project, since who made a project must not say what of the user's own files gets into a sandbox (G-32).
 */
export class RememberedIncludes {
  readonly #path: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(home: string) {
    this.#path = join(home, "seed-includes.json");
  }

  async find(seedPath: string): Promise<IncludeRules | undefined> {
    const found = (await this.#read())[await projectOf(seedPath)];
    return found && { ignored: found.include_ignored, globs: found.include };
  }

  /** Rules that bring nothing are forgotten. */
  async remember(seedPath: string, { ignored, globs }: IncludeRules): Promise<void> {
    const project = await projectOf(seedPath);
    // One after the other: each writes the whole file.
    const turn = this.#last.then(async () => {
      const all = new Map(Object.entries(await this.#read()));
      if (ignored || globs.length > 0) all.set(project, { include_ignored: ignored, include: [...globs] });
      else all.delete(project);
      await writeFileAtomic(this.#path, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
    });
    this.#last = turn.catch(() => undefined);
    await turn;
  }

  async #read(): Promise<Remembered> {
    try {
      return Remembered.parse(JSON.parse(await readFile(this.#path, "utf8")));
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return {};
      throw failure("CONFIG_INVALID", `Cannot read "${this.#path}": ${messageOf(error)}`, {
        hint: "Correct the file, or remove it and say --remember again",
        cause: error,
      });
    }
  }
}

/** What is not there is told by who imports it. */
const projectOf = (seedPath: string): Promise<string> => realpath(seedPath).catch(() => seedPath);
