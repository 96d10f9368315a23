import type { BackendHealth, Health } from "../../model/health.ts";
import { defineCommand, type Context } from "../command.ts";
import { formatEnvironments } from "../environment-table.ts";
import { escapeName } from "../escape.ts";
import { formatPairs } from "../table.ts";
import { hangText } from "../wrap-text.ts";

export const command = defineCommand({
  words: ["doctor"],
  summary: "Say what works on this host, and what to do about the rest",
  description: "Exits with 0 when the default backend works, else with 1.",
  positionals: [],
  options: {},
  examples: ["cloche doctor", "cloche doctor --json | jq .backends"],
  async run(context) {
    const health = await (await context.connect()).doctor();
    await context.print(health, () => formatHealth(health, context));
    return health.healthy ? 0 : 1;
  },
});

function formatHealth(health: Health, { colours, layout: { width } }: Pick<Context, "colours" | "layout">): string {
  const { bold, green, red, cyan } = colours;
  const mark = (works: boolean) => (works ? green("✓") : red("✗"));
  const places = formatPairs([
    ["version", health.version],
    ["home", escapeName(health.home)],
    ["cache", escapeName(health.cache)],
  ]);
  const hints = health.backends.flatMap(({ name, hint }) =>
    hint === null ? [] : hangText(`${cyan("hint:")} `, "hint: ".length, escapeName(`${name}: ${hint}`), width),
  );
  const verdict = health.healthy
    ? green("Ready: the default backend works")
    : red("Not ready: the default backend does not work");
  return [
    ...places,
    "",
    bold("Backends"),
    ...health.backends.flatMap((backend) => formatBackend(backend, mark, width)),
    "",
    bold("Environments"),
    ...formatEnvironments(health.environments, { width: width - 2, bold: (text) => text }).map((line) =>
      `  ${line}`.trimEnd(),
    ),
    "",
    ...hints,
    verdict,
  ].join("\n");
}

/** The backend's line and one for each of its limits, with the names aligned. */
function formatBackend(backend: BackendHealth, mark: (works: boolean) => string, width: number): string[] {
  const line = (indent: number, works: boolean, name: string, detail: string) => {
    const beginning = `${escapeName(name)}  `;
    const before = `${" ".repeat(indent)}${mark(works)} ${beginning}`;
    return hangText(before, indent + 2 + beginning.length, escapeName(detail), width);
  };
  const longest = Math.max(0, ...backend.limits.map(({ name }) => name.length));
  return [
    ...line(2, backend.available, backend.name, backend.detail),
    ...backend.limits.flatMap(({ name, holds, detail }) =>
      line(6, holds, `${name} limit`.padEnd(longest + " limit".length), detail),
    ),
  ];
}
