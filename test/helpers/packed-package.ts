import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeTree } from "../../src/base/remove-tree.ts";
import { runProcess } from "./installation.ts";

/** The archive that `npm pack` makes of this checkout, in a folder of its own. */
export class PackedPackage implements AsyncDisposable {
  readonly folder: string;
  readonly archive: string;
  readonly files: readonly { readonly path: string; readonly mode: number }[];

  private constructor(folder: string, { filename, files }: Packed) {
    this.folder = folder;
    this.archive = join(folder, filename);
    this.files = files;
  }

  /** Builds what is not up to date first, as whoever publishes it does. */
  static async make(): Promise<PackedPackage> {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "cl-pack-")));
    const argv = ["pack", "--json", "--pack-destination", folder];
    const { code, stdout, stderr } = await runProcess("npm", argv, { timeoutMs: 120_000 });
    if (code !== 0) throw new Error(`npm pack: ${stderr}`);
    const [packed] = JSON.parse(stdout) as Packed[];
    if (!packed) throw new Error("npm pack has packed nothing");
    return new PackedPackage(folder, packed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removeTree(this.folder);
  }
}

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}
