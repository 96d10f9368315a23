import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript-api";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g;

export interface TranspiledProgram {
  /** What `node` runs. */
  readonly entry: string;
  /** Packages and built-in modules that it loads, directly or not. */
  readonly modules: ReadonlySet<string>;
  /** Its own files, relative to the repository. */
  readonly sources: readonly string[];
  remove(): void;
}

/**
 * Makes a program of one TypeScript file and what it imports, without the type checker and without the build: quick, always of the
 * sources as they are. It lies in the repository, so that packages are found.
 */
export function transpileProgram(source: string): TranspiledProgram {
  const parent = join(ROOT, "build");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "program-"));
  writeFileSync(join(folder, "package.json"), readFileSync(join(ROOT, "package.json")));
  const modules = new Set<string>();
  const seen = new Set<string>([resolve(ROOT, source)]);
  for (const file of seen) {
    const { outputText } = ts.transpileModule(readFileSync(file, "utf8"), {
      fileName: file,
      compilerOptions: {
        target: ts.ScriptTarget.ES2023,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
        rewriteRelativeImportExtensions: true,
      },
    });
    const output = place(folder, file);
    mkdirSync(dirname(output), { recursive: true });
    writeFileSync(output, outputText);
    for (const [, name = ""] of outputText.matchAll(IMPORT)) {
      if (name.startsWith(".")) seen.add(resolve(dirname(file), name.replace(/\.js(x?)$/, ".ts$1")));
      else modules.add(name);
    }
  }
  return {
    entry: place(folder, resolve(ROOT, source)),
    modules,
    sources: [...seen].map((file) => relative(ROOT, file)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const place = (folder: string, file: string): string =>
  join(folder, relative(ROOT, file).replace(/\.ts(x?)$/, ".js$1"));
