import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface BundledProgram {
  /** What `node` runs. */
  readonly entry: string;
  remove(): void;
}

/**
 * Makes one file of a program that is started many times, from the sources as they are. To load its sources one by one takes longer than most of what such a
 * program does. It lies in the repository, so that packages are found.
 */
export async function bundleProgram(source: string): Promise<BundledProgram> {
  const parent = join(ROOT, "build");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "program-"));
  copyFileSync(join(ROOT, "package.json"), join(folder, "package.json"));
  const bundle = await rolldown({
    cwd: ROOT,
    platform: "node",
    input: { main: join(ROOT, source) },
    external: ["libsql"],
  });
  // As deep as a source file, which finds other files of the package by its own place.
  await bundle.write({ dir: join(folder, "src/program"), format: "esm", entryFileNames: "[name].js" });
  await bundle.close();
  return {
    entry: join(folder, "src/program/main.js"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
