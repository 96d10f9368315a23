import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findFences } from "./markdown.ts";
import { type OpenProgram, PackedTypes } from "./packed-types.ts";
import { projectFiles, readProjectFile, ROOT } from "./project-files.ts";
import { describeModule } from "./type-surface.ts";

const SNAPSHOT = join(ROOT, "test/repo/public-types.txt");
const LANGUAGES: Readonly<Record<string, string>> = { ts: "ts", typescript: "ts", js: "mjs", javascript: "mjs" };

/** What examples leave to the reader, by the page. */
const GIVEN: Readonly<Record<string, string>> = {
  "docs/mcp.md": 'declare const transport: import("cloche").McpTransport;',
  "docs/backends.md": `declare const home: string;
    declare const daemonProgram: string;
    declare function listWhatMyBackendHasMade(): Promise<string[]>;
    declare function test(title: string, body: () => Promise<unknown>): void;`,
};
/** The file beside the daemon of docs/backends.md. */
const MY_BACKEND = `import type { Backend, BackendSurroundings } from "cloche/backend";
  export declare const MyBackend: new (options: BackendSurroundings) => Backend;`;

let types: PackedTypes;
beforeAll(async () => {
  types = await PackedTypes.make();
});
afterAll(async () => {
  await types[Symbol.asyncDispose]();
});

/** The examples of each page as one module, in order: what one declares, the next may use. */
function examples(): Record<string, string> {
  const modules: Record<string, string> = {};
  for (const page of projectFiles().filter((file) => file.endsWith(".md"))) {
    for (const { language, text } of findFences(readProjectFile(page))) {
      const ending = LANGUAGES[language];
      if (ending === undefined) continue;
      const name = `${page.replace(/\W/g, "-")}.${ending}`;
      modules[name] = `${modules[name] ?? "export {};\n"}${text}`;
    }
  }
  return modules;
}

const manifest = JSON.parse(readProjectFile("package.json")) as { exports: Record<string, object | string> };
const MODULES = Object.keys(manifest.exports)
  .filter((entry) => typeof manifest.exports[entry] === "object")
  .map((entry) => ({ name: join("cloche", entry), file: `${entry.replace(/\W/g, "-")}.ts` }));
const WRONG = "wrong.ts";

/** One program for right and wrong examples: what they share, the package and its libraries, is checked once. */
function openExamples(): OpenProgram {
  const given = Object.entries(GIVEN).map(([page, text]) => [`${page.replace(/\W/g, "-")}-given.d.ts`, text]);
  return types.open({
    ...examples(),
    ...(Object.fromEntries(given) as Record<string, string>),
    "my-backend.d.mts": MY_BACKEND,
    "examples-sdk.mjs": readProjectFile("examples/sdk.mjs"),
    [WRONG]: 'import { Cloche } from "cloche";\nnew Cloche({ no_such: 1 }).noSuch();\n',
  });
}

it("the package's types take every example of the documents, and notice what they do not take", () => {
  expect(Object.keys(examples())).toEqual(
    expect.arrayContaining(["README-md.ts", "docs-backends-md.mjs", "docs-mcp-md.ts", "docs-sdk-md.ts"]),
  );
  const problems = openExamples().problems();
  expect(problems.filter((one) => !one.startsWith(`${WRONG}:`))).toEqual([]);
  expect(problems).toHaveLength(2);
});

it("test/repo/public-types.txt has every name that the package exports, with its type (UPDATE=1 writes it)", async () => {
  // Of its own: in which order the compiler writes a union down depends on what it has seen before.
  const program = types.open(Object.fromEntries(MODULES.map(({ name, file }) => [file, `export * from "${name}";`])));
  const parts: string[] = [];
  for (const { name, file } of MODULES)
    parts.push(`# ${name}\n\n${describeModule(program, file, await types.valuesOf(name))}\n`);
  const surface = parts.join("\n");
  if (process.env["UPDATE"] === "1") writeFileSync(SNAPSHOT, surface);
  expect(surface).toBe(existsSync(SNAPSHOT) ? readFileSync(SNAPSHOT, "utf8") : "");
});
