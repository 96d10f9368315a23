import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript-api";
import { expect, it } from "vitest";
import { git } from "../helpers/git-project.ts";
import { PROJECT, runProcess, withInstallation } from "../helpers/installation.ts";
import { readProjectFile } from "../repo/project-files.ts";
import { sdkProgram } from "../repo/sdk-page.ts";

/** All examples together, also on a machine that is busy. */
const PATIENCE_MS = 300_000;

it(
  "the examples of docs/sdk.md run from the first to the last, with the results that they speak of",
  async () => {
    await withInstallation(async (at) => {
      const project = at.path("project");
      mkdirSync(project);
      writeFileSync(join(project, "README"), "a project\n");
      git(project, "init", "-q", "-b", "main");
      git(project, "add", ".");
      git(project, "commit", "-q", "-m", "first");
      const program = sdkProgram(readProjectFile("docs/sdk.md"));
      const { outputText } = ts.transpileModule(program, {
        compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
      });
      const client = pathToFileURL(join(PROJECT, "dist/index.js")).href;
      writeFileSync(at.path("examples.mjs"), outputText.replace('from "cloche"', `from "${client}"`));

      const { code, stdout, stderr } = await runProcess(process.execPath, [at.path("examples.mjs")], {
        cwd: project,
        env: at.env,
        timeoutMs: PATIENCE_MS,
      });
      expect({ code, stderr: stderr.includes("Error") ? stderr : "" }).toEqual({ code: 0, stderr: "" });
      for (const expected of ["hello from /workspace", "begin\nend\n", "the shop is open", "25"])
        expect(stdout).toContain(expected);
      for (const expected of ["one\ntwo\nexit 0\n", "a\nb\n0\n", "LOUD", "cloche-guest", "+good bye", "'before'", "42"])
        expect(stdout).toContain(expected);
      expect(stdout).toContain("WORKSPACE_NOT_FOUND");
    });
  },
  PATIENCE_MS,
);
