import { cp, mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageFile } from "../../base/package-file.ts";
import { removeTree } from "../../base/remove-tree.ts";

/** The sample's file with the fault, and the fault. */
const FAULT = { file: "slug.sh", wrong: `tr ' ' '-'` } as const;

export interface DemoSample extends AsyncDisposable {
  readonly path: string;
  /** For what else the demo needs. */
  readonly folder: string;
  /** Whether the copy on the host still has the fault. */
  unchanged(): Promise<boolean>;
}

/**
 * A copy of the sample project outside of any checkout: where the package is installed, git may ignore the folder it lies in, and a
 * project is seeded without what git ignores.
 */
export async function copySample(): Promise<DemoSample> {
  const folder = await mkdtemp(join(tmpdir(), "cloche-demo-"));
  const path = join(folder, "demo-project");
  await cp(packageFile("examples/demo-project"), path, { recursive: true });
  return {
    path,
    folder,
    unchanged: async () => (await readFile(join(path, FAULT.file), "utf8")).includes(FAULT.wrong),
    [Symbol.asyncDispose]: () => removeTree(folder),
  };
}
