import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PARITY_SCENARIOS } from "../../src/parity/all-scenarios.ts";
import type { ParityOutcome } from "../../src/parity/parity-run.ts";
import { PROJECT } from "../helpers/installation.ts";

/** `docs/parity.md`: a row for each scenario, a column for each backend. The run of each backend writes and checks its own column. */
export const PARITY_BACKENDS = ["container", "docker", "docker-gvisor", "vm", "smolmachines"] as const;

/** What a run gives, or that it was not tried. */
export type PageOutcome = ParityOutcome | "cannot";

const PAGE = join(PROJECT, "docs/parity.md");
const WORDS: Readonly<Record<PageOutcome, string>> = { works: "✓", refuses: "refuses", cannot: "–" };
const UNKNOWN = "?";

const HEAD = `# Parity

Every row is one scenario of the [parity suite](backends.md#the-parity-suite), run on every backend through the public client. The table is written by the run,
and a run whose outcome is another fails. \`refuses\`: the backend does not declare what it takes, and the run has seen it refuse with \`NOT_SUPPORTED\` and leave
nothing.

\`container\`, \`docker\` and \`vm\` run for real. \`smolmachines\` runs against a stand-in for \`smolvm\`, \`docker-gvisor\` is \`docker\` with the \`runsc\` that Debian 12 has, of 2022, which
cannot do what has a dash: see [limitations](limitations.md). The table is root's; \`docker\`, \`vm\` and \`smolmachines\` are also run by an ordinary user, and have to come out the same.
`;

type Columns = Record<string, Record<string, string>>;

/** Titles to outcomes of one backend, as the page has them. */
export function parityColumn(backend: string): Record<string, string> {
  const columns = readColumns();
  const outcomeOf = (cell: string) => Object.entries(WORDS).find(([, word]) => word === cell)?.[0] ?? cell;
  return Object.fromEntries(Object.entries(columns[backend] ?? {}).map(([title, cell]) => [title, outcomeOf(cell)]));
}

export function writeParityColumn(backend: string, outcomes: ReadonlyMap<string, PageOutcome>): void {
  const columns = readColumns();
  columns[backend] = Object.fromEntries([...outcomes].map(([title, outcome]) => [title, WORDS[outcome]]));
  writeFileSync(PAGE, renderPage(columns));
}

/** Titles that the page has, in its order. */
export const pageTitles = (): string[] => rows().map(([title = ""]) => title);

function renderPage(columns: Columns): string {
  const topics = [...new Set(PARITY_SCENARIOS.map(({ topic }) => topic))];
  const tables = topics.map((topic) => {
    const lines = PARITY_SCENARIOS.filter((one) => one.topic === topic).map(
      ({ title }) => `| ${title} | ${PARITY_BACKENDS.map((name) => columns[name]?.[title] ?? UNKNOWN).join(" | ")} |`,
    );
    return [
      `\n## ${topic.charAt(0).toUpperCase()}${topic.slice(1)}\n`,
      `| | ${PARITY_BACKENDS.join(" | ")} |`,
      `|---${"|---".repeat(PARITY_BACKENDS.length)}|`,
      ...lines,
    ].join("\n");
  });
  return `${HEAD}${tables.join("\n")}\n`;
}

function readColumns(): Columns {
  const columns: Columns = {};
  for (const [title = "", ...cells] of rows())
    PARITY_BACKENDS.forEach((name, index) => ((columns[name] ??= {})[title] = cells[index] ?? UNKNOWN));
  return columns;
}

function rows(): string[][] {
  return readPage()
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| |"))
    .map((line) => line.slice(2, -2).split(" | "));
}

function readPage(): string {
  try {
    return readFileSync(PAGE, "utf8");
  } catch {
    return ""; // not written yet
  }
}
