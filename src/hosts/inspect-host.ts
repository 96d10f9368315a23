import { isClocheError } from "../base/errors.ts";
import type { HostAccess, HostName, HostReport } from "../model/host.ts";
import { compareEntry, type RefuseOptions } from "./compare-entry.ts";
import { configPath, readConfig } from "./config-file.ts";
import { diffEntries } from "./entry-diff.ts";
import { findProgram } from "./find-program.ts";
import type { Host } from "./host.ts";
import { HOST_TABLE } from "./hosts.ts";
import { isInstalled } from "./is-installed.ts";
import { serveOptions, type Launcher } from "./server-entry.ts";

export interface HostSetting {
  readonly launcher: Launcher;
  readonly refuse: RefuseOptions;
  /** What a server with these options reaches; only for options that are not refused. */
  readonly accessOf: (options: readonly string[]) => HostAccess;
}

/** How one host stands to this installation. Changes nothing and starts nothing. */
export async function inspectHost(name: HostName, setting: HostSetting): Promise<HostReport> {
  const host = HOST_TABLE[name];
  const { env } = setting.launcher;
  const program = findProgram(host.program, env) ?? null;
  const known = {
    host: name,
    title: host.title,
    installed: isInstalled(host, env),
    program,
    config_path: configPath(host, env),
  };
  return { ...known, ...(await stateOf(host, known, setting)) };
}

async function stateOf(
  host: Host,
  { installed, program }: Pick<HostReport, "installed" | "program">,
  { launcher, refuse, accessOf }: HostSetting,
): Promise<Pick<HostReport, "state" | "access" | "why" | "diff" | "next_step">> {
  const nothing = { access: null, why: null, diff: null };
  try {
    const { entry } = await readConfig(host, launcher.env);
    if (!entry) return { state: "not_connected", ...nothing, next_step: installed ? firstStep(host, program) : null };
    const server = host.read(entry);
    const options = server && serveOptions(server);
    const access = options && refuse(options) === undefined ? accessOf(options) : null;
    const { wanted, why } = compareEntry(host, entry, { launcher, options: undefined, refuse });
    if (why === undefined) return { state: "connected", ...nothing, access, next_step: null };
    const diff = await diffEntries(host, entry, wanted);
    return { state: "drifted", access, why, diff, next_step: `Run \`cloche host repair ${host.name}\`` };
  } catch (error) {
    if (!isClocheError(error)) throw error;
    return { state: "unreadable", ...nothing, why: error.message, next_step: "Correct the file by hand" };
  }
}

/** `connect` is the host's own command, which needs its program. */
const firstStep = (host: Host, program: string | null): string =>
  `Run \`cloche host ${host.addCommand && program !== null ? "connect" : "repair"} ${host.name}\``;
