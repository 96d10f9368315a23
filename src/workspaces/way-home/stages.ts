import { randomBytes } from "node:crypto";
import * as fs from "node:fs/promises";
import { basename, join } from "node:path";
import { removeTree } from "../../base/remove-tree.ts";

const PREFIX = "cloche-apply-";
/** Nobody works in one for so long. */
const OLD_MS = 3_600_000;

/**
 * Folders in a checkout in which files are made before they take their places. Each is written down in git's folder for as long as it is there.
 * SECURITY: one that was left is removed because it was written down, and not for its name: anybody can commit something of that name, and nothing of a sandbox gets into git's folder (G-144)
 */
export class Stages {
  readonly #top: string;
  readonly #records: string;

  constructor(top: string, gitDir: string) {
    this.#top = top;
    this.#records = gitDir;
  }

  async make(): Promise<string> {
    const name = `${PREFIX}${randomBytes(6).toString("hex")}`;
    await fs.writeFile(join(this.#records, name), "", { flag: "wx" });
    try {
      await fs.mkdir(this.#folder(name), { mode: 0o700 });
    } catch (error) {
      await fs.unlink(join(this.#records, name));
      throw error;
    }
    return this.#folder(name);
  }

  async remove(stage: string): Promise<void> {
    await removeTree(stage);
    await fs.unlink(join(this.#records, basename(stage).slice(1)));
  }

  /** Of calls that were killed. */
  async removeLeft(): Promise<void> {
    for (const name of await fs.readdir(this.#records)) {
      if (!/^cloche-apply-[0-9a-f]{12}$/.test(name)) continue;
      const { mtimeMs } = await fs.lstat(join(this.#records, name));
      if (Date.now() - mtimeMs > OLD_MS) await this.remove(this.#folder(name));
    }
  }

  #folder(name: string): string {
    return join(this.#top, `.${name}`);
  }
}
