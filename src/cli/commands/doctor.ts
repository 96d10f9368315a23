import type { AgentHealth, BackendHealth, Health } from "../../model/health.ts";
import { defineCommand, type Context } from "../command.ts";
import { formatEnvironments } from "../results/environment-table.ts";
import { escapeName } from "../output/escape.ts";
import { formatPairs, formatTable } from "../output/table.ts";
import { hangText } from "../output/wrap-text.ts";

export const command = defineCommand({
  words: ["doctor"],
  summary: "Say what works on this host, and what to do about the rest",
  description:
    "Tries every backend, and tells which works, which does not and why, and what to install; and which agents this host has. DEFAULTS is what a workspace may use when nobody says. The first time, it fetches the kernel of virtual machines and boots one. Exits with 0 when the default backend works (CLOCHE_BACKEND, else the one in config.yaml, else container), else with 1.",
  positionals: [],
  options: {},
  examples: [
    "cloche doctor",
    "CLOCHE_BACKEND=vm cloche doctor",
    "cloche doctor --json | jq '.backends[] | {name, available, detail, hint}'",
  ],
  async run(context) {
    const health = await (await context.connect()).doctor({ onProgress: context.onProgress });
    await context.print(health, () => formatHealth(health, context));
    return health.healthy ? 0 : 1;
  },
});

function formatHealth(health: Health, { colours, layout }: Pick<Context, "colours" | "layout">): string {
  const { bold, green, red, cyan } = colours;
  const { width } = layout;
  const places = formatPairs([
    ["version", health.version],
    ["home", escapeName(health.home)],
    ["cache", escapeName(health.cache)],
  ]);
  const inset = { ...layout, width: width - 2, bold: (text: string) => text };
  const rows = health.backends.map(toRow);
  const backends = formatTable(["  BACKEND", "LIMITS", "DEFAULTS", "ALSO", "WHAT"], rows, inset);
  const hints = health.backends.flatMap(({ name, hint }) =>
    hint === null ? [] : hangText(`${cyan("hint:")} `, "hint: ".length, escapeName(`${name}: ${hint}`), width),
  );
  const verdict = health.healthy
    ? green(`Ready: the default backend, ${health.default_backend}, works`)
    : red(`Not ready: ${whyNot(health)}`);
  return [
    ...places,
    "",
    bold("Backends"),
    ...backends.map((line) => `  ${line}`.replace("✓", green("✓")).replace("✗", red("✗")).trimEnd()),
    "",
    bold("Environments"),
    ...formatEnvironments(health.environments, inset).map((line) => `  ${line}`.trimEnd()),
    "",
    bold("Agents"),
    ...formatTable(["  AGENT", "ON THIS HOST", "VERSION", "ELSEWHERE"], health.agents.map(agentRow), inset).map(
      (line) => `  ${line}`.replace("✓", green("✓")).trimEnd(),
    ),
    "",
    ...hints,
    verdict,
  ].join("\n");
}

function whyNot({ default_backend: name, backends }: Health): string {
  return backends.some((one) => one.name === name)
    ? `the default backend, ${escapeName(name)}, does not work`
    : `there is no backend "${escapeName(name)}", which CLOCHE_BACKEND or config.yaml names`;
}

const CAPABILITIES = {
  host_folders: "host folders",
  oci_runtime: "OCI runtimes",
  live_snapshots: "live snapshots",
  machine_files: "packed machines",
  guarded_system: "guarded system files",
  remediation: "changed environments",
  egress: "egress",
} as const;

/** Which limits hold, or why one does not, is in the JSON; here it is the list of those that do, where anything does. */
function toRow({ name, available, detail, limits, default_limits: usual, capabilities }: BackendHealth): string[] {
  const held = limits.filter(({ holds }) => holds).map((limit) => limit.name);
  const also = Object.entries(CAPABILITIES).flatMap(([key, words]) =>
    capabilities[key as keyof typeof CAPABILITIES] ? [words] : [],
  );
  const defaults = `${usual.vcpu_count} vcpu, ${usual.mem_mib} MiB`;
  return [`${available ? "✓" : "✗"} ${name}`, available ? list(held) : "-", defaults, list(also), detail].map(
    escapeName,
  );
}

/** One that is not on this host is no fault: other environments get it from its package. */
function agentRow({ name, path, version, package: packaged, hint }: AgentHealth): string[] {
  return [`${path === null ? "-" : "✓"} ${name}`, path ?? hint ?? "-", version ?? "-", packaged ?? "-"].map(escapeName);
}

const list = (words: readonly string[]): string => (words.length === 0 ? "-" : words.join(", "));
