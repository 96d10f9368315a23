// Puts each entry of the MCP server and all that it loads into one file, over what the compiler wrote to the same place. A host starts the server in every
// conversation, and most of a start is finding and reading some hundred small files: see docs/decisions/0010-mcp-start.md.
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, URL } from "node:url";
import { rolldown } from "rolldown";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const OUTPUT = join(ROOT, "dist/mcp");
const ENTRIES = ["stdio", "embedded", "http-main"];
/** The protocol library's validator of a client's answers: nothing here asks a client anything, and it is a third of the code. */
const VALIDATOR = "@modelcontextprotocol/server/_shims";

const bundle = await rolldown({
  cwd: ROOT,
  platform: "node",
  transform: { target: "node20" },
  input: Object.fromEntries(ENTRIES.map((name) => [name, join(ROOT, "src/mcp", `${name}.ts`)])),
  plugins: [
    {
      name: "no-validator",
      resolveId: (id) => (id === VALIDATOR ? "\0no-validator" : null),
      load: (id) =>
        id === "\0no-validator"
          ? 'export { default as process } from "node:process"; export class DefaultJsonSchemaValidator {}; export const CORS_IS_POSSIBLE = false;'
          : null,
    },
  ],
});
for (const name of readdirSync(OUTPUT)) if (name.startsWith("bundled-")) rmSync(join(OUTPUT, name));
const { output } = await bundle.write({
  dir: OUTPUT,
  format: "esm",
  minify: true,
  entryFileNames: "[name].js",
  // Beside the entries: files are found from there by the same relative path.
  chunkFileNames: "bundled-[hash].js",
});

const packages = new Set(
  output.flatMap((part) =>
    ("moduleIds" in part ? part.moduleIds : []).flatMap(
      (id) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? [],
    ),
  ),
);
const licences = [...packages].sort().map((folder) => {
  const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return `${name} ${version}\n\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}\n`;
});
writeFileSync(join(OUTPUT, "LICENSES.txt"), licences.join(`\n${"-".repeat(80)}\n\n`));
