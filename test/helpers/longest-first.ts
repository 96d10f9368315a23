import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that take longest on two processors, the longest first; `make test` ends with the ten that do. One that begins late leaves a processor with nothing to
 * do at the end.
 */
const LONGEST = [
  "e2e/bottled-claude",
  "e2e/bottled-codex",
  "parity/ordinary-user",
  "parity/vm",
  "e2e/backends-cli",
  "e2e/git-gate",
  "e2e/vm",
  "parity/docker-gvisor",
  "e2e/vm-faults",
  "e2e/doors",
  "parity/smolmachines",
  "e2e/kill-verbs",
  "security/guest-program",
  "parity/docker",
  "model/model",
  "e2e/cli",
  "security/mcp-host-access",
  "e2e/sync-push",
  "e2e/docker-faults",
];
/** The rest by project, because files of one project share a process. Unit tests come last: they are short, and fill what is left. */
const PROJECTS = ["parity", "sandbox", "arm64", "unit"];

/** Puts the longest files first, and the shortest last. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ moduleId, project }: TestSpecification): number {
  const place = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return place >= 0 ? place : LONGEST.length + PROJECTS.indexOf(project.name);
}
