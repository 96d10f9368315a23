import type { BackendHealth, Health } from "../../model/health.ts";
import type { Colours } from "../colour.ts";
import { defineCommand } from "../command.ts";
import { formatEnvironments } from "../environment-table.ts";
import { escapeName } from "../escape.ts";
import { formatPairs } from "../table.ts";

export const command = defineCommand({
  words: ["doctor"],
  summary: "Say what works on this host, and what to do about the rest",
  description: "Exits with 0 when the default backend works, else with 1.",
  positionals: [],
  options: {},
  examples: ["cloche doctor", "cloche doctor --json | jq .backends"],
  async run(context) {
    const health = await (await context.connect()).doctor();
    await context.print(health, () => formatHealth(health, context.colours));
    return health.healthy ? 0 : 1;
  },
});

function formatHealth(health: Health, colours: Colours): string {
  const { bold, green, red, cyan } = colours;
  const mark = (works: boolean) => (works ? green("✓") : red("✗"));
  const places = formatPairs([
    ["version", health.version],
    ["home", escapeName(health.home)],
    ["cache", escapeName(health.cache)],
  ]);
  const hints = health.backends.flatMap(({ name, hint }) =>
    hint === null ? [] : [`${cyan("hint:")} ${escapeName(`${name}: ${hint}`)}`],
  );
  const verdict = health.healthy
    ? green("Ready: the default backend works")
    : red("Not ready: the default backend does not work");
  return [
    ...places,
    "",
    bold("Backends"),
    ...health.backends.flatMap((backend) => formatBackend(backend, mark)),
    "",
    bold("Environments"),
    ...formatEnvironments(health.environments).map((line) => `  ${line}`),
    "",
    ...hints,
    verdict,
  ].join("\n");
}

/** The backend's line and one for each of its limits, with the names aligned. */
function formatBackend(backend: BackendHealth, mark: (works: boolean) => string): string[] {
  const limits = formatPairs(backend.limits.map(({ name, detail }) => [`${name} limit`, escapeName(detail)] as const));
  return [
    `  ${mark(backend.available)} ${escapeName(backend.name)}  ${escapeName(backend.detail)}`,
    ...limits.map((line, index) => `      ${mark(backend.limits[index]?.holds === true)} ${line}`),
  ];
}
