import { builtinModules } from "node:module";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { findCycles } from "./import-cycles.ts";
import { projectFiles, readProjectFile } from "./project-files.ts";
import { findImports, type SourceImport } from "./source-imports.ts";

/**
 * Which layer a folder of `src/` is on. Imports go down only; folders of one layer do not import each other. `docs/architecture.md` has
 * the same table for readers.
 */
const LAYERS: Readonly<Record<string, number>> = {
  base: 0,
  model: 1,
  policy: 2,
  guest: 2,
  "docker-engine": 2,
  git: 2,
  contracts: 3,
  walls: 3,
  gate: 3,
  scan: 3,
  backends: 4,
  environments: 4,
  "gate-processes": 4,
  store: 4,
  events: 4,
  audit: 4,
  telemetry: 4,
  seeds: 4,
  providers: 4,
  workspaces: 5,
  supervise: 5,
  bottles: 6,
  daemon: 7,
  sdk: 8,
  hosts: 8,
  mcp: 9,
  tui: 9,
  "use-cases": 9,
  parity: 9,
  cli: 10,
};

/** Narrower than the layers: a client knows the wire, a surface knows the client, and the gate can run while there is no daemon. */
const ONLY: Readonly<Record<string, readonly string[]>> = {
  gate: ["base", "model", "policy", "guest"],
  scan: ["base", "model", "policy"],
  sdk: ["base", "model"],
  hosts: ["base", "model", "policy"],
  audit: ["base", "model", "contracts"],
  telemetry: ["base", "model", "contracts"],
  cli: ["base", "model", "scan", "audit", "sdk", "hosts", "mcp", "tui"],
  mcp: ["base", "model", "sdk"],
  tui: ["base", "model", "sdk"],
  "use-cases": ["base", "model", "sdk"],
  parity: ["base", "model", "sdk"],
  "index.ts": ["base", "model", "sdk", "mcp"],
};

/** Programs of their own, which others know as a file to run. */
const PROGRAMS: readonly string[] = ["gate"];

/** Loaded by `import()` in the command whose work the package does, and in no other. */
const ON_DEMAND: readonly string[] = [
  "src/hosts/json-document.ts",
  "src/hosts/toml-document.ts",
  "src/mcp/stdio.ts",
  "src/mcp/embedded.ts",
  "src/cli/arguments/policy-document.ts",
  "src/cli/results/learned-yaml.ts",
  "src/tui/supervise.ts",
];

/** Decide and describe, and touch nothing. */
const PURE = ["model", "policy"];
const INPUT_AND_OUTPUT =
  /^node:(fs|net|child_process|http|https|http2|dgram|dns|tls|worker_threads|cluster|readline|repl|sqlite)(\/|$)/;

const BUILTIN = new Set(builtinModules.map((name) => `node:${name}`));

/** Tests compose what they like; what is shipped does not. */
const files = projectFiles().filter((file) => /^src\/.*\.tsx?$/.test(file) && !file.endsWith(".test.ts"));
const imports = new Map(files.map((file) => [file, findImports(file, readProjectFile(file))]));
const isRelative = (specifier: string) => specifier.startsWith(".");
const target = (file: string, specifier: string) => normalize(join(dirname(file), specifier));

/** `src/cli/commands/run.ts` is in `cli`, `src/backends/vm/start.ts` in `backends/vm`, `src/index.ts` is its own. */
function folderOf(file: string): string {
  const [, first = "", second = ""] = file.split("/");
  return first === "backends" ? `${first}/${second}` : first;
}

const layerOf = (folder: string): number | undefined =>
  folder === "index.ts" ? LAYERS["cli"] : LAYERS[folder.split("/")[0] ?? ""];

/** Why a file of one folder must not import from another, or undefined when it may. */
function refusal(from: string, to: string): string | undefined {
  if (from === to) return undefined;
  if (PROGRAMS.includes(to)) return `${to} is a program of its own`;
  const only = ONLY[from];
  if (only) return only.includes(to) ? undefined : `${from} may import ${only.join(", ")} only`;
  const [own, other] = [layerOf(from), layerOf(to)];
  if (own === undefined || other === undefined) return `${own === undefined ? from : to} has no layer in the table`;
  if (other > own) return `${from} (${own}) is below ${to} (${other})`;
  return other === own ? `${from} and ${to} are siblings` : undefined;
}

function eachImport(check: (file: string, one: SourceImport) => string | undefined): string[] {
  return [...imports].flatMap(([file, list]) =>
    list.flatMap((one) => {
      const problem = check(file, one);
      return problem === undefined ? [] : [`${file}:${one.line} imports "${one.specifier}": ${problem}`];
    }),
  );
}

describe("findImports()", () => {
  it("sees every form of import, and which ones are gone after compilation", () => {
    const text = [
      'import a from "./a.ts";',
      'import type { B } from "./b.ts";',
      'import { type C } from "./c.ts";',
      'import "./d.ts";',
      'export { e } from "./e.ts";',
      'export type * from "./f.ts";',
      'const g = () => import("./g.ts");',
      'type H = import("./h.ts").H;',
      '// import "./in-a-comment.ts";',
      "const i = 'import \"./in-a-string.ts\"';",
    ].join("\n");
    expect(findImports("x.ts", text).map(({ specifier, typeOnly, line }) => [specifier, typeOnly, line])).toEqual([
      ["./a.ts", false, 1],
      ["./b.ts", true, 2],
      ["./c.ts", false, 3],
      ["./d.ts", false, 4],
      ["./e.ts", false, 5],
      ["./f.ts", true, 6],
      ["./g.ts", false, 7],
      ["./h.ts", true, 8],
    ]);
  });
});

describe("findCycles()", () => {
  it("finds a cycle of two, a long one and a file that imports itself, and no diamond", () => {
    const graph = {
      a: ["b"],
      b: ["a"],
      c: ["d"],
      d: ["e"],
      e: ["c", "f"],
      f: ["f", "g"],
      g: [],
      h: ["g", "i"],
      i: ["g"],
    };
    expect(findCycles(new Map(Object.entries(graph))).sort()).toEqual([["a", "b"], ["c", "d", "e"], ["f"]]);
  });
});

describe("refusal()", () => {
  it.each([
    ["base", "model"],
    ["policy", "guest"],
    ["guest", "contracts"],
    ["backends/container", "backends/docker"],
    ["backends/container", "environments"],
    ["store", "workspaces"],
    ["workspaces", "daemon"],
    ["workspaces", "bottles"],
    ["workspaces", "supervise"],
    ["supervise", "workspaces"],
    ["supervise", "bottles"],
    ["gate", "contracts"],
    ["gate", "store"],
    ["gate", "workspaces"],
    ["daemon", "gate"],
    ["bottles", "gate"],
    ["bottles", "daemon"],
    ["providers", "backends/container"],
    ["providers", "workspaces"],
    ["tui", "daemon"],
    ["tui", "mcp"],
    ["sdk", "daemon"],
    ["sdk", "contracts"],
    ["cli", "daemon"],
    ["daemon", "mcp"],
    ["gate", "contracts"],
    ["gate-processes", "gate"],
    ["mcp", "daemon"],
    ["mcp", "cli"],
    ["mcp", "use-cases"],
    ["use-cases", "cli"],
    ["use-cases", "daemon"],
    ["index.ts", "cli"],
    ["utilities", "base"],
  ])("keeps %s from importing %s", (from, to) => {
    expect(refusal(from, to)).toBeTypeOf("string");
  });

  it.each([
    ["cli", "sdk"],
    ["cli", "mcp"],
    ["mcp", "sdk"],
    ["use-cases", "sdk"],
    ["daemon", "backends/container"],
    ["workspaces", "contracts"],
    ["bottles", "workspaces"],
    ["bottles", "supervise"],
    ["bottles", "providers"],
    ["daemon", "bottles"],
    ["gate", "policy"],
    ["gate", "guest"],
    ["tui", "sdk"],
    ["cli", "tui"],
    ["index.ts", "sdk"],
  ])("lets %s import %s", (from, to) => {
    expect(refusal(from, to)).toBeUndefined();
  });
});

describe("the layers of src/", () => {
  it("have a place for every folder", () => {
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((file) => layerOf(folderOf(file)) === undefined)).toEqual([]);
  });

  it("import downwards only, siblings never", () => {
    const problems = eachImport((file, { specifier }) =>
      isRelative(specifier) ? refusal(folderOf(file), folderOf(target(file, specifier))) : undefined,
    );
    expect(problems).toEqual([]);
  });

  it("import files that exist, in src/, by their whole name", () => {
    const known = new Set(files);
    const problems = eachImport((file, { specifier }) =>
      isRelative(specifier) && !known.has(target(file, specifier)) ? "there is no such source file" : undefined,
    );
    expect(problems).toEqual([]);
  });

  it("use Node's modules by their full name, and packages only if they are run-time dependencies", () => {
    const manifest = JSON.parse(readProjectFile("package.json")) as { dependencies: Record<string, string> };
    const problems = eachImport((_, { specifier }) => {
      if (isRelative(specifier) || BUILTIN.has(specifier)) return undefined;
      const name = specifier
        .split("/")
        .slice(0, specifier.startsWith("@") ? 2 : 1)
        .join("/");
      return Object.hasOwn(manifest.dependencies, name) ? undefined : "it is no run-time dependency";
    });
    expect(problems).toEqual([]);
  });

  it.each(PURE)("%s does no input and output", (folder) => {
    const problems = eachImport((file, { specifier }) =>
      folderOf(file) === folder && INPUT_AND_OUTPUT.test(specifier) ? `${folder} is pure` : undefined,
    );
    expect(problems).toEqual([]);
  });

  it("have no cycle, not even of types", () => {
    const graph = new Map(
      [...imports].map(([file, list]) => [
        file,
        list.flatMap(({ specifier }) => (isRelative(specifier) ? [target(file, specifier)] : [])),
      ]),
    );
    expect(findCycles(graph)).toEqual([]);
  });

  it.each([
    ["the CLI starts, nor with a command that can do without", "src/cli/main.ts"],
    ["a program imports the SDK", "src/index.ts"],
  ])("load no package when %s", (_, entry) => {
    const seen = new Set<string>();
    const packages: string[] = [];
    const load = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const { specifier, typeOnly, onDemand, line } of imports.get(file) ?? []) {
        if (typeOnly || (onDemand && ON_DEMAND.includes(target(file, specifier)))) continue;
        if (isRelative(specifier)) load(target(file, specifier));
        else if (!BUILTIN.has(specifier)) packages.push(`${file}:${line} ${specifier}`);
      }
    };
    load(entry);
    expect(seen.size).toBeGreaterThan(20);
    expect(packages).toEqual([]);
  });
});

describe("the page for readers", () => {
  it("shows every folder of src/ on the layer that the table has", () => {
    const rows = [...readProjectFile("docs/architecture.md").matchAll(/^\| (\d+) \| (.+?) \|/gm)].flatMap(
      ([, layer, folders = ""]) => [...folders.matchAll(/`src\/([a-z-]+)/g)].map((match) => [match[1], Number(layer)]),
    );
    const present = [...new Set(files.map((file) => folderOf(file).split("/")[0] ?? ""))].filter(
      (name) => name !== "index.ts",
    );
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(present.map((name) => [name, LAYERS[name]])));
  });
});
