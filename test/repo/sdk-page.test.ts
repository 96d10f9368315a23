import { join } from "node:path";
import ts from "typescript-api";
import { expect, it, vi } from "vitest";
import { CONTRACT_SDK_METHODS } from "./public-names.ts";
import { handleRows } from "./handle-tables.ts";
import { readProjectFile, ROOT } from "./project-files.ts";
import { sdkProgram, sdkSections } from "./sdk-page.ts";

vi.setConfig({ testTimeout: 60_000 }); // the compiler looks at the whole client

const page = readProjectFile("docs/sdk.md");
const sections = sdkSections(page);
const exampleModule = sdkProgram(page).replace('from "cloche"', 'from "../src/index.ts"');
const EXAMPLES = join(ROOT, "docs/sdk-examples.ts");
const { program, checker } = openProgram();

/** The project's compiler on the client and on the examples, which are in no file. */
function openProgram() {
  const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const own = { ...options, noEmit: true, noUnusedLocals: false };
  const host = ts.createCompilerHost(own);
  host.fileExists = (path) => path === EXAMPLES || ts.sys.fileExists(path);
  host.readFile = (path) => (path === EXAMPLES ? exampleModule : ts.sys.readFile(path));
  const program = ts.createProgram([EXAMPLES, join(ROOT, "src/sdk/cloche.ts")], own, host);
  return { program, checker: program.getTypeChecker() };
}

function methodsOf(file: string, name: string): ts.MethodDeclaration[] {
  const source = program.getSourceFile(join(ROOT, "src/sdk", file));
  const found = source?.statements.find((one) => ts.isClassDeclaration(one) && one.name?.text === name);
  if (!found || !ts.isClassDeclaration(found)) throw new Error(`${file} has no class ${name}`);
  return found.members.flatMap((one) => (ts.isMethodDeclaration(one) && ts.isIdentifier(one.name) ? [one] : []));
}

/** With those that it inherits. */
const methodsOfClient = () => [
  ...methodsOf("cloche.ts", "Cloche"),
  ...methodsOf("run-calls.ts", "RunCalls"),
  ...methodsOf("audit-calls.ts", "AuditCalls"),
  ...methodsOf("approval-calls.ts", "ApprovalCalls"),
  ...methodsOf("installation-calls.ts", "InstallationCalls"),
];

/** How the page calls a thing, and the class of its methods. */
const HANDLES = [
  ["ws", "workspace-handle.ts", "WorkspaceHandle"],
  ["ws.files", "workspace-parts.ts", "WorkspaceFiles"],
  ["ws.snapshots", "workspace-parts.ts", "WorkspaceSnapshots"],
  ["ws.services", "service-handle.ts", "WorkspaceServices"],
  ["ws.disk", "workspace-parts.ts", "WorkspaceDisk"],
  ["ws.ports", "workspace-ports.ts", "WorkspacePorts"],
  ["service", "service-handle.ts", "ServiceHandle"],
  ["shell", "shell-handle.ts", "ShellHandle"],
] as const;

function rowOf(thing: string, method: ts.MethodDeclaration): { call: string; gives: string } {
  const parameters = method.parameters.map(
    (one) => `${one.name.getText()}${(one.initializer ?? one.questionToken) ? "?" : ""}`,
  );
  const gives = (method.type?.getText() ?? "").replace(/^Promise<(.*)>$/, "$1");
  return { call: `${thing}.${method.name.getText()}(${parameters.join(", ")})`, gives };
}

const signatureOf = (method: ts.MethodDeclaration): string => {
  const parameters = method.parameters.map(
    (one) => `${one.name.getText()}${one.initializer ? "?" : ""}: ${one.type?.getText() ?? ""}`,
  );
  return `${method.name.getText()}(${parameters.join(", ")}): ${method.type?.getText() ?? ""}`;
};

/** What its options take, but for what every call takes. */
function optionsOf(method: ts.MethodDeclaration): string[] {
  const last = method.parameters.at(-1);
  if (last?.name.getText() !== "options") return [];
  const properties = checker.getPropertiesOfType(checker.getTypeAtLocation(last)).map((one) => one.name);
  const common = method.name.getText() === "signalShell" ? [] : ["signal", "onProgress"];
  return properties.filter((name) => !common.includes(name));
}

it("docs/sdk.md has a section with an example for every method", () => {
  expect(sections.map(({ method }) => method).toSorted()).toEqual([...CONTRACT_SDK_METHODS].toSorted());
  expect(sections.filter(({ hasExample }) => !hasExample)).toEqual([]);
});

it("docs/sdk.md has the signatures of the source", () => {
  const wanted = new Map(methodsOfClient().map((method) => [method.name.getText(), signatureOf(method)]));
  for (const { method, signature } of sections) expect(signature).toBe(wanted.get(method));
});

it("docs/sdk.md has every option of every method", () => {
  // These take what others take, and say so.
  const told = sections.filter(({ method }) => !["workspace", "run", "openRun"].includes(method));
  const wanted = new Map(methodsOfClient().map((method) => [method.name.getText(), optionsOf(method)]));
  for (const { method, options } of told)
    expect(options.toSorted(), method).toEqual(wanted.get(method)?.toSorted() ?? "no such method");
});

it("docs/sdk.md has every method of every handle, and what it gives", () => {
  const wanted = HANDLES.flatMap(([thing, file, name]) => methodsOf(file, name).map((method) => rowOf(thing, method)));
  const rows = handleRows(page);
  const inOrder = (list: { call: string; gives: string }[]) =>
    list.map((one) => `${one.call}: ${one.gives}`).toSorted();
  expect(inOrder(rows)).toEqual(inOrder(wanted));
  const flat: readonly string[] = CONTRACT_SDK_METHODS;
  expect(rows.filter((row) => row.flat !== undefined && !flat.includes(row.flat))).toEqual([]);
});

it("docs/sdk.md has handles that do all that is done to a workspace by its id", () => {
  const byId = methodsOfClient().filter(({ parameters }) => parameters[0]?.name.getText() === "workspaceId");
  const covered = new Set(handleRows(page).map(({ flat }) => flat));
  const names = byId.map(({ name }) => name.getText()).filter((name) => name !== "open");
  expect(names.filter((name) => !covered.has(name))).toEqual([]);
});

it("docs/sdk.md has examples that the compiler takes", () => {
  const source = program.getSourceFile(EXAMPLES);
  expect(source?.text).toBe(exampleModule);
  const problems = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))).toEqual([]);
});
