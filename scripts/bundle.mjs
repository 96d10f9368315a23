// Puts the programs that load many small files into few, over what the compiler wrote to the same places. To find and read them is most of such a program's start:
// see docs/decisions/0010-mcp-start.md.
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath, URL } from "node:url";
import { rolldown } from "rolldown";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/**
 * By their folder in dist/. Programs and threads of one folder lie beside each other, and so do the parts that they share: all of them are as deep in the package as a
 * source file is, and find its other files by the same relative path.
 */
const BUNDLES = {
  daemon: ["src/daemon/main.ts", "src/seeds/import-worker.ts", "src/workspaces/shells/render-thread.ts"],
  gate: ["src/gate/main.ts"],
  cli: ["src/cli/main.ts"],
  tui: ["src/tui/supervise.ts"],
  mcp: ["src/mcp/stdio.ts", "src/mcp/embedded.ts", "src/mcp/http-main.ts"],
};
/** It has a binary for each system in a package of its own, and finds it by its name. */
const LOADED_BY_NAME = ["libsql"];
/** The protocol library's validator of a client's answers: nothing here asks a client anything, and it is a third of the code. */
const VALIDATOR = "@modelcontextprotocol/server/_shims";

/** Of the CLI: each command has a file of its own, and what several commands load is in one more. `--version` loads the entry alone, and its one import. */
const GROUPS = [
  { name: "version", test: /\/src\/base\/version\.ts$/, priority: 1 },
  { name: "common", test: /\/src\//, minShareCount: 3 },
];

const nameOf = (source) => basename(source, ".ts");

/** Programs load those of other folders from their own bundle. */
const otherPrograms = (folder) => ({
  name: "other-programs",
  async resolveId(id, importer) {
    if (importer === undefined) return null;
    const found = await this.resolve(id, importer, { skipSelf: true });
    for (const [other, sources] of Object.entries(BUNDLES)) {
      const source = sources.find((one) => join(ROOT, one) === found?.id);
      if (source && other !== folder) return { id: `../${other}/${nameOf(source)}.js`, external: true };
    }
    return null;
  },
});

const noValidator = {
  name: "no-validator",
  resolveId: (id) => (id === VALIDATOR ? "\0no-validator" : null),
  load: (id) =>
    id === "\0no-validator"
      ? 'export { default as process } from "node:process"; export class DefaultJsonSchemaValidator {}; export const CORS_IS_POSSIBLE = false;'
      : null,
};

/** The messages of the schema library in some fifty languages: a sixth of a program's code, and none of ours asks for them. */
const LOCALES = /\/zod\/v4\/locales\/index\.js$/;
const onlyEnglish = {
  name: "only-english",
  load: (id) => (LOCALES.test(id) ? 'export { default as en } from "./en.js";' : null),
};

/**
 * Ink draws nothing where it takes a variable for a sign of a machine that nobody looks at; who asks for a screen here has a terminal. And it loads tools for its own
 * development when another one is set.
 */
const ALWAYS_DRAWN = "is-in-ci";
const DEVELOPMENT = /\/ink\/build\/devtools\.js$/;
const onlyDraws = {
  name: "only-draws",
  resolveId: (id) => (id === ALWAYS_DRAWN ? "\0always-drawn" : null),
  load: (id) => (id === "\0always-drawn" ? "export default false;" : DEVELOPMENT.test(id) ? "export {};" : null),
};

for (const [folder, sources] of Object.entries(BUNDLES)) {
  const bundle = await rolldown({
    cwd: ROOT,
    platform: "node",
    // A package's modules before its older form, whose own way to load its parts cannot be followed.
    resolve: { mainFields: ["module", "main"] },
    transform: { target: "node20", define: { "process.env.NODE_ENV": '"production"' } },
    external: LOADED_BY_NAME,
    input: Object.fromEntries(sources.map((source) => [nameOf(source), join(ROOT, source)])),
    plugins: [otherPrograms(folder), noValidator, onlyEnglish, onlyDraws],
  });
  const output = join(ROOT, "dist", folder);
  for (const name of readdirSync(output)) if (name.startsWith("bundled-")) rmSync(join(output, name));
  const { output: parts } = await bundle.write({
    dir: output,
    format: "esm",
    minify: {
      compress: true,
      // A stack in a log names functions as the source does. All else has short names: a fifth of the code less to read.
      mangle: folder === "mcp" || { keepNames: true },
      // To read the code is most of a start, and somebody waits for each.
      codegen: { removeWhitespace: true },
    },
    entryFileNames: "[name].js",
    chunkFileNames: "bundled-[name]-[hash].js",
    ...(folder === "cli" && { codeSplitting: { groups: GROUPS } }),
  });
  for (const part of parts) if ("code" in part) writeFileSync(join(output, part.fileName), inAscii(part.code));
  writeLicences(output, parts);
}

// What a gate's detectors look for: made here once, and not by each gate (docs/decisions/0040-speed-of-the-gate.md).
const { packedNeedles } = await import("../dist/policy/dlp/create-detector.js");
writeFileSync(join(ROOT, "dist/gate/needles.bin"), packedNeedles());

/**
 * With escapes for what is not ASCII. One letter of another alphabet has V8 hold all of a file with two bytes for each character, as long as the program runs: half a
 * megabyte of each gate.
 */
function inAscii(code) {
  // There an escape would be another text.
  const left = /\\[^\0-\x7f]|String\.raw`[^`]*[^\0-\x7f]/.exec(code)?.[0];
  if (left !== undefined) throw new Error(`cannot write ${left} in ASCII`);
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Of the packages whose code is in the bundle. */
function writeLicences(output, parts) {
  const modules = parts.flatMap((part) => ("moduleIds" in part ? part.moduleIds : []));
  const packages = new Set(modules.flatMap((id) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? []));
  if (packages.size === 0) return;
  const licences = [...packages].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
    // A few come without the text.
    const text = file === undefined ? license : readFileSync(join(folder, file), "utf8").trim();
    return `${name} ${version}\n\n${text}\n`;
  });
  writeFileSync(join(output, "LICENSES.txt"), licences.join(`\n${"-".repeat(80)}\n\n`));
}
