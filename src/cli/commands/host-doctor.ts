import { HOSTS, type HostReport, type ServerProbe } from "../../model/host.ts";
import type { Colours } from "../output/colour.ts";
import { type Context, defineCommand } from "../command.ts";
import type { OutputStream } from "../io.ts";
import { escapeName, escapeText } from "../output/escape.ts";
import { hostSetting } from "../arguments/host-setting.ts";
import { colourPatch } from "../results/patch-colours.ts";
import { formatTable } from "../output/table.ts";
import { toldLines } from "../output/told-lines.ts";

export const command = defineCommand({
  words: ["host", "doctor"],
  summary: "Say which hosts are connected, and what to do about the rest",
  description:
    "Starts the server once, as a host would, and changes nothing. Says what the tools of each connected host reach of this machine. Exits with 1 when it does not answer, an entry has drifted or a configuration cannot be read.",
  positionals: [],
  options: {},
  examples: ["cloche host doctor", "cloche host doctor --json | jq '.hosts[].state'"],
  async run(context) {
    const [{ inspectHost }, { probeServer }] = await Promise.all([
      import("../../hosts/inspect-host.ts"),
      import("../../hosts/probe-server.ts"),
    ]);
    const setting = hostSetting(context);
    const [server, ...hosts] = await Promise.all([
      probeServer(setting.launcher),
      ...HOSTS.map((host) => inspectHost(host, setting)),
    ]);
    const healthy = server.answers && hosts.every(({ state }) => state !== "drifted" && state !== "unreadable");
    await context.print({ healthy, server, hosts }, () => formatHosts(server, hosts, context));
    return healthy ? 0 : 1;
  },
});

function formatHosts(server: ServerProbe, hosts: readonly HostReport[], { colours, io }: Context): string {
  const rows = hosts.map(({ host, installed, state, config_path: path }) => [
    host,
    installed ? "yes" : "no",
    state.replace("_", " "),
    escapeName(path),
  ]);
  const mark = server.answers ? colours.green("✓") : colours.red("✗");
  return [
    `${mark} cloche mcp serve  ${escapeName(server.detail)}`,
    "",
    ...formatTable(["HOST", "INSTALLED", "STATE", "CONFIGURATION"], rows),
    ...hosts.flatMap((host) => formatAccess(host)),
    ...hosts.flatMap((host) => formatFinding(host, colours, io.stdout)),
  ].join("\n");
}

/** What its tools reach of this machine. */
function formatAccess({ host, access }: HostReport): string[] {
  if (access === null) return [];
  const listed = (paths: readonly string[]) => escapeName(paths.join(", ")) || "nothing";
  return [
    "",
    `${host} reads      ${listed(access.reads)}`,
    `${host} writes     ${access.writes.length === 0 ? "nothing" : `new paths below ${listed(access.writes)}`}`,
    `${host} uses       ${listed(access.environments)}`,
    `${host} reaches    ${access.workspaces === "all" ? "every workspace" : "workspaces of its project's servers"}`,
  ];
}

function formatFinding(
  { host, why, diff, next_step: step }: HostReport,
  colours: Colours,
  stdout: OutputStream,
): string[] {
  if (why === null && step === null) return [];
  return [
    "",
    ...(why === null ? [] : toldLines(`${host}:`, colours.red(`${host}:`), escapeName(why), stdout)),
    ...(diff === null ? [] : [colourPatch(escapeText(diff), colours).trimEnd()]),
    ...(step === null
      ? []
      : toldLines("hint:", colours.cyan("hint:"), `${why === null ? `${host}: ` : ""}${escapeName(step)}`, stdout)),
  ];
}
