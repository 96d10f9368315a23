import { expect, it } from "vitest";
import { PARITY_SCENARIOS } from "../../src/parity/all-scenarios.ts";
import { PARITY_BACKENDS, pageTitles, parityColumn } from "../parity/parity-page.ts";
import { projectFiles } from "./project-files.ts";

it("docs/parity.md has a row for each scenario, in order, and each title once", () => {
  const titles = PARITY_SCENARIOS.map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
  expect(pageTitles()).toEqual(titles);
});

it.each(PARITY_BACKENDS)("docs/parity.md tells what came out on %s, and a test runs it", (backend) => {
  const outcomes = Object.values(parityColumn(backend));
  const known = ["works", "refuses", ...(backend === "docker-gvisor" ? ["cannot"] : [])];
  expect(outcomes.filter((outcome) => !known.includes(outcome))).toEqual([]);
  expect(projectFiles()).toContain(`test/parity/${backend}.test.ts`);
});
