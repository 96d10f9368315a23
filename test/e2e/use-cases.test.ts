import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runUseCase, type UseCaseReport } from "../../src/use-cases/run-use-case.ts";
import { USE_CASE_SCENARIOS, USE_CASES } from "../../src/use-cases/registry.ts";
import type { UseCase } from "../../src/use-cases/use-case.ts";
import { type CliResult, type Installation, PROJECT, runProcess, withInstallation } from "../helpers/installation.ts";
import { findFences } from "../repo/markdown.ts";
import { readProjectFile } from "../repo/project-files.ts";

const PROGRAM = join(PROJECT, "dist/use-cases/main.js");

/** A folder for temporary files of its own, so that what others leave in theirs is not counted. */
function temporary(at: Installation): string {
  const path = at.path("tmp");
  mkdirSync(path, { recursive: true });
  return path;
}

/** The built program. A first build of an environment takes a while. */
const walk = (at: Installation, args: readonly string[]): Promise<CliResult> =>
  runProcess(process.execPath, [PROGRAM, ...args], { env: { ...at.env, TMPDIR: temporary(at) }, timeoutMs: 600_000 });

async function expectNothingLeft(at: Installation): Promise<void> {
  expect((await at.sdk.listWorkspaces()).workspaces).toEqual([]);
  expect(readdirSync(temporary(at)).filter((name) => name.startsWith("cloche-use-case-"))).toEqual([]);
}

describe("the smoke pack", () => {
  it.each(["host", "debian:12"])(
    "passes as a whole in %s and leaves nothing",
    { timeout: 600_000 },
    async (environment) => {
      await withInstallation(async (at) => {
        const args = ["--scenario", "all", "--environment", environment, "--backend", "container", "--json"];
        const { code, stderr, json } = await walk(at, args);
        const document = json() as { ok: boolean; environment: string; backend: string; scenarios: UseCaseReport[] };
        expect(document.scenarios.map(({ scenario, ok, error }) => [scenario, ok, error])).toEqual(
          USE_CASE_SCENARIOS.map((scenario) => [scenario, true, null]),
        );
        expect(document).toMatchObject({ ok: true, environment, backend: "container" });
        for (const { steps } of document.scenarios) {
          expect(steps.length).toBeGreaterThan(5);
          expect(steps.every(({ ok }) => ok)).toBe(true);
        }
        expect(stderr).toContain("  ok apply the patch (");
        expect(code).toBe(0);
        await expectNothingLeft(at);
      });
    },
  );

  it("walks one scenario, and says on stdout how it went", async () => {
    await withInstallation(async (at) => {
      const { code, stdout, stderr } = await walk(at, ["--scenario", "repro-fix-loop"]);
      expect(stdout).toMatch(
        /^repro-fix-loop: passed, 9 steps, \d+\.\d s\n1 of 1 passed, environment host, backend container, \d+\.\d s\n$/,
      );
      expect(stderr).not.toContain("review-eval");
      expect(code).toBe(0);
    });
  });

  it("refuses an unknown name with a list of the names, and starts nothing", async () => {
    await withInstallation(async (at) => {
      const { code, stdout, stderr } = await walk(at, ["--scenario", "not-a-scenario"]);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain('Unknown use-case scenario "not-a-scenario"');
      for (const name of [...USE_CASE_SCENARIOS, "all"]) expect(stderr).toContain(name);
      const json = await walk(at, ["--scenario", "not-a-scenario", "--json"]);
      expect(json.code).toBe(2);
      expect(json.json()).toMatchObject({ error: { code: "USAGE" } });
      expect((await walk(at, ["--nonsense"])).code).toBe(2);
      expect((await at.sdk.daemonStatus()).running).toBe(false);
    });
  });

  it("fails with the step's name when the environment is not there", async () => {
    await withInstallation(async (at) => {
      const { code, stdout, stderr } = await walk(at, ["--scenario", "review-eval", "--environment", "nope"]);
      expect(code).toBe(1);
      expect(stdout).toContain("review-eval: FAILED, 1 steps");
      expect(stderr).toMatch(/review-eval: step "create a workspace from the project": .*nope/);
      await expectNothingLeft(at);
    });
  });
});

describe("runUseCase()", () => {
  afterEach(() => vi.unstubAllEnvs());
  const useCase = (run: UseCase["run"]): UseCase => ({ ...USE_CASES[0]!, scenario: "test", run });
  const options = (at: Installation) => ({
    client: at.sdk,
    environment: "host",
    backend: "container",
    signal: new AbortController().signal,
    onStep: () => undefined,
  });

  it("names the step and what was expected, and deletes what the failed walk made", async () => {
    await withInstallation(async (at) => {
      vi.stubEnv("TMPDIR", temporary(at));
      const failing = useCase(async ({ client, create, seed, step }) => {
        const { workspace_id: id } = await step("make", async () => create({ seed_path: await seed({ a: "a\n" }) }));
        await step("run", async (expect) => {
          expect("exec", await client.execWorkspace(id, { command: "cat a; exit 3" }), { stdout: "a\n", exit_code: 0 });
        });
      });
      const report = await runUseCase(failing, options(at));
      expect(report).toMatchObject({
        ok: false,
        steps: [
          { step: "make", ok: true },
          { step: "run", ok: false },
        ],
      });
      expect(report.error).toBe('test: step "run": expected exec.exit_code to be 0, it is 3');
      await expectNothingLeft(at);
    });
  });

  it("counts a workspace that a walk forgets as a failure, and deletes it", async () => {
    await withInstallation(async (at) => {
      const forgetful = useCase(async ({ create }) => {
        await create({});
      });
      const report = await runUseCase(forgetful, options(at));
      expect(report.ok).toBe(false);
      expect(report.error).toMatch(/^test: expected workspaces left behind to be \[\], it is \["ws-\w+"\]$/);
      expect((await at.sdk.listWorkspaces()).workspaces).toEqual([]);
    });
  });

  it("stops before the next step when it is interrupted, and deletes what it made", async () => {
    await withInstallation(async (at) => {
      const interruption = new AbortController();
      const walkOn = useCase(async ({ create, step }) => {
        await step("make", async () => create({}));
        interruption.abort();
        await step("never", () => Promise.reject(new Error("ran")));
      });
      const report = await runUseCase(walkOn, { ...options(at), signal: interruption.signal });
      expect(report.error).toBe('test: step "never": Interrupted');
      expect((await at.sdk.listWorkspaces()).workspaces).toEqual([]);
    });
  });
});

describe("the documents", () => {
  it.each(USE_CASES)("of $scenario have commands that work as they stand", async ({ docPath }) => {
    await withInstallation(async (at) => {
      const bin = at.path("bin");
      mkdirSync(bin);
      const program = join(PROJECT, "dist/cli/main.js");
      writeFileSync(join(bin, "cloche"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`, { mode: 0o755 });
      const here = at.path("empty");
      mkdirSync(here);
      const script = findFences(readProjectFile(docPath))
        .filter(({ language }) => language === "sh")
        .map(({ text }) => text)
        .join("\n");
      const env = { ...at.env, PATH: `${bin}:${process.env["PATH"] ?? ""}` };
      const { code, stdout, stderr } = await runProcess("sh", ["-eu", "-c", script], { env, cwd: here });
      expect(code, `${stdout}\n${stderr}`).toBe(0);
      expect((await at.sdk.listWorkspaces()).workspaces).toEqual([]);
    });
  });
});
