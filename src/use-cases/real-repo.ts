import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { UseCase } from "./use-case.ts";

/** This project's checkout: the same from `src/` and from `dist/`. */
const CHECKOUT = fileURLToPath(new URL("../..", import.meta.url));

const SOURCE = "src/policy/workspace-path.ts";
/** What is broken and repaired: without the slash, a folder that only begins like `/workspace` would be inside. */
const RIGHT = "startsWith(`${WORKSPACE_ROOT}/`)";
const WRONG = "startsWith(WORKSPACE_ROOT)";

/** Comes with the repair, so that the loop ends with a change to look at. */
const NEW_TEST = "src/policy/workspace-path-sibling.test.ts";
const NEW_TEST_LINES = [
  'import { expect, it } from "vitest";',
  'import { toWorkspaceRelative } from "./workspace-path.ts";',
  "",
  'it("refuses a folder whose name only begins like the workspace", () => {',
  '  expect(() => toWorkspaceRelative("/workspace-other/a")).toThrow("is outside");',
  "});",
];

const TEST = ["node_modules/.bin/vitest", "run", "--project", "unit", "--no-color", "src/policy/workspace-path"];

export const realRepo: UseCase = {
  scenario: "real-repo",
  title: "Walk the loop on this project itself: install, failing test, patch, test, diff, export",
  profile: "workspace-core",
  mode: "repro-fix",
  docPath: "docs/use-cases/README.md",
  smokeTarget: "smoke-real-repo",
  async run({ client, folder, signal, create, step }) {
    const { workspace_id: id } = await step("create a workspace from the checkout", () =>
      create({ seed_path: CHECKOUT, name: "real-repo", mem_mib: 4096 }),
    );
    const test = () => client.execWorkspace(id, { command: TEST, timeout_seconds: 120, signal });

    await step("find Node in the environment", async (expect) => {
      expect("node --version", await client.execWorkspace(id, { command: "node --version" }), { exit_code: 0 });
    });
    await step("install: push the packages, as there is no network inside", async (expect) => {
      const pushed = await client.pushWorkspaceSync(id, join(CHECKOUT, "node_modules"), {
        dest: "node_modules",
        signal,
      });
      expect("pushed", pushed, { dest: "/workspace/node_modules" });
    });
    const { content } = await step("read a source file", () => client.readWorkspaceFile(id, SOURCE));
    await step("break it with a patch", async (expect) => {
      const applied = await client.applyWorkspacePatch(id, { patch: changeLine(content, RIGHT, WRONG) });
      expect("patch", applied, { changed: true, files: [{ path: `/workspace/${SOURCE}`, status: "modified" }] });
    });
    await step("see its test fail", async (expect) => {
      const result = await test();
      expect("exec", result, { exit_code: 1, timed_out: false });
      expect("the output names the case", result.stdout.includes('refuses "/workspacex/a"'), true);
    });
    await step("repair it with a patch, which has a new test too", async (expect) => {
      const patch = changeLine(content.replace(RIGHT, WRONG), WRONG, RIGHT) + addFile(NEW_TEST, NEW_TEST_LINES);
      const { files } = await client.applyWorkspacePatch(id, { patch });
      const statuses = Object.fromEntries(files.map(({ path, status }) => [path, status]));
      expect("patched", statuses, { [`/workspace/${SOURCE}`]: "modified", [`/workspace/${NEW_TEST}`]: "added" });
    });
    await step("see both tests pass", async (expect) => {
      const result = await test();
      expect("exec", result, { exit_code: 0, timed_out: false });
      expect("the output names both files", /Test Files\s+2 passed/.test(result.stdout), true);
    });
    await step("look at the difference", async (expect) => {
      const { entries } = await client.diffWorkspace(id, { signal });
      const own = entries.filter(({ path }) => !path.startsWith("/workspace/node_modules/"));
      expect("diff outside of the packages", own, [{ path: `/workspace/${NEW_TEST}`, status: "added" }]);
    });
    await step("take the repaired file and the new test out", async (expect) => {
      const wanted = { [SOURCE]: content, [NEW_TEST]: `${NEW_TEST_LINES.join("\n")}\n` };
      for (const [index, [path, text]] of Object.entries(wanted).entries()) {
        const output_path = join(folder, `exported-${index}.ts`);
        await client.exportWorkspace(id, path, { output_path });
        expect(path, await readFile(output_path, "utf8"), text);
      }
    });
    await step("delete the workspace", async (expect) => {
      expect("deleted", await client.deleteWorkspace(id), { workspace_id: id, deleted: true });
    });
  },
};

/** A patch of the one line of the source file that has this text. */
function changeLine(content: string, before: string, after: string): string {
  const lines = content.split("\n");
  const number = lines.findIndex((line) => line.includes(before)) + 1;
  const line = lines[number - 1];
  if (line === undefined) throw new Error(`expected ${SOURCE} to have the text ${before}`);
  const range = `@@ -${number} +${number} @@`;
  return [`--- a/${SOURCE}`, `+++ b/${SOURCE}`, range, `-${line}`, `+${line.replace(before, () => after)}`, ""].join(
    "\n",
  );
}

const addFile = (path: string, lines: readonly string[]): string =>
  ["--- /dev/null", `+++ b/${path}`, `@@ -0,0 +1,${lines.length} @@`, ...lines.map((line) => `+${line}`), ""].join(
    "\n",
  );
