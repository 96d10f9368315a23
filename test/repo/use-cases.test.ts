import { describe, expect, it } from "vitest";
import { realRepo } from "../../src/use-cases/real-repo.ts";
import { findUseCases, USE_CASE_CHOICES, USE_CASE_SCENARIOS, USE_CASES } from "../../src/use-cases/registry.ts";
import { projectFiles, readProjectFile } from "./project-files.ts";

const FOLDER = "docs/use-cases";
const index = readProjectFile(`${FOLDER}/README.md`);
const makefile = readProjectFile("Makefile");

/** The lines of a target's recipe; undefined when the Makefile has no such target. */
const recipeOf = (target: string): string | undefined =>
  new RegExp(`^${target}: build ## \\S.*\\n((?:\\t.*\\n)+)`, "m").exec(makefile)?.[1];

describe("the registry of use cases", () => {
  it("has the five scenarios, and `all` beside them", () => {
    const names = [
      "cold-start-validation",
      "repro-fix-loop",
      "parallel-workspaces",
      "untrusted-inspection",
      "review-eval",
    ];
    expect(USE_CASE_SCENARIOS).toEqual(names);
    expect(USE_CASE_CHOICES).toEqual([...names, "all"]);
    expect(USE_CASES.map(({ scenario, profile, mode }) => [scenario, profile, mode])).toEqual([
      ["cold-start-validation", "workspace-full", "cold-start"],
      ["repro-fix-loop", "workspace-core", "repro-fix"],
      ["parallel-workspaces", "workspace-core", "repro-fix"],
      ["untrusted-inspection", "workspace-core", "inspect"],
      ["review-eval", "workspace-full", "review-eval"],
    ]);
  });

  it("finds one by its name, all of them by `all`, and names them all for an unknown name", () => {
    for (const useCase of USE_CASES) expect(findUseCases(useCase.scenario)).toEqual([useCase]);
    expect(findUseCases("all")).toEqual(USE_CASES);
    for (const name of ["nope", "", "All", "constructor"]) {
      expect(() => findUseCases(name)).toThrow(
        expect.objectContaining({
          code: "USAGE",
          message: expect.stringContaining(USE_CASE_CHOICES.join(", ")) as string,
        }),
      );
    }
  });
});

describe("documents, targets and registry", () => {
  it.each(USE_CASES)("agree on $scenario", ({ scenario, title, profile, mode, docPath, smokeTarget }) => {
    expect(docPath).toBe(`${FOLDER}/${scenario}.md`);
    expect(smokeTarget).toBe(`smoke-${scenario}`);
    const page = readProjectFile(docPath);
    expect(page).toContain(`**Profile:** \`${profile}\` · **Mode:** \`${mode}\` · **Proof:** \`make ${smokeTarget}\``);
    const lower = `${title[0]?.toLowerCase()}${title.slice(1)}`;
    const row = `| [${scenario}](${scenario}.md): ${lower} | \`${profile}\` | \`${mode}\` | \`make ${smokeTarget}\` |`;
    expect(index).toContain(row);
    expect(recipeOf(smokeTarget)).toBe(`\t@node dist/use-cases/main.js --scenario ${scenario} $(USE_CASE_OPTIONS)\n`);
  });

  it("have nothing that the others do not have", () => {
    const pages = projectFiles().filter((file) => file.startsWith(`${FOLDER}/`) && file !== `${FOLDER}/README.md`);
    expect(pages.sort()).toEqual(USE_CASES.map(({ docPath }) => docPath).sort());
    const targets = [...makefile.matchAll(/^(smoke-[a-z-]+):/gm)].map((match) => match[1]);
    const wanted = [...USE_CASES.map(({ smokeTarget }) => smokeTarget), "smoke-use-cases", realRepo.smokeTarget];
    expect(targets.sort()).toEqual(wanted.sort());
    const phony = [...makefile.replaceAll("\\\n", "").matchAll(/^\.PHONY:(.*)$/gm)].flatMap(
      (match) => match[1]?.trim().split(/\s+/) ?? [],
    );
    expect(wanted.filter((target) => !phony.includes(target))).toEqual([]);
  });

  it("have one target for all, one for a real project, and both options with their defaults", () => {
    expect(recipeOf("smoke-use-cases")).toContain("main.js --scenario all $(USE_CASE_OPTIONS)");
    expect(recipeOf(realRepo.smokeTarget)).toContain("real-repo-main.js $(USE_CASE_OPTIONS)");
    expect(makefile).toMatch(/^USE_CASE_ENVIRONMENT \?= host$/m);
    expect(makefile).toMatch(/^USE_CASE_BACKEND \?= container$/m);
    expect(makefile).toMatch(
      /^USE_CASE_OPTIONS = --environment "\$\(USE_CASE_ENVIRONMENT\)" --backend "\$\(USE_CASE_BACKEND\)"$/m,
    );
    for (const words of ["trustworthy", "guest-backed verification path", `make ${realRepo.smokeTarget}`])
      expect(index).toContain(words);
  });
});
