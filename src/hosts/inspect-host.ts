import { isClocheError } from "../base/errors.ts";
import type { HostName, HostReport } from "../model/host.ts";
import { compareEntry, type RefuseOptions } from "./compare-entry.ts";
import { configPath, readConfig } from "./config-file.ts";
import { diffEntries } from "./entry-diff.ts";
import { findProgram } from "./find-program.ts";
import type { Host } from "./host.ts";
import { HOST_TABLE } from "./hosts.ts";
import type { Launcher } from "./server-entry.ts";

export interface HostSetting {
  readonly launcher: Launcher;
  readonly refuse: RefuseOptions;
}

/** How one host stands to this installation. Changes nothing and starts nothing. */
export async function inspectHost(name: HostName, setting: HostSetting): Promise<HostReport> {
  const host = HOST_TABLE[name];
  const { env } = setting.launcher;
  const program = findProgram(host.program, env) ?? null;
  const known = {
    host: name,
    title: host.title,
    installed: program !== null,
    program,
    config_path: configPath(host, env),
  };
  return { ...known, ...(await stateOf(host, program !== null, setting)) };
}

async function stateOf(
  host: Host,
  installed: boolean,
  { launcher, refuse }: HostSetting,
): Promise<Pick<HostReport, "state" | "why" | "diff" | "next_step">> {
  try {
    const { entry } = await readConfig(host, launcher.env);
    if (!entry) return { state: "not_connected", why: null, diff: null, next_step: installed ? firstStep(host) : null };
    const { wanted, why } = compareEntry(host, entry, { launcher, options: undefined, refuse });
    if (why === undefined) return { state: "connected", why: null, diff: null, next_step: null };
    const diff = await diffEntries(host, entry, wanted);
    return { state: "drifted", why, diff, next_step: `Run \`cloche host repair ${host.name}\`` };
  } catch (error) {
    if (!isClocheError(error)) throw error;
    return { state: "unreadable", why: error.message, diff: null, next_step: "Correct the file by hand" };
  }
}

const firstStep = (host: Host): string => `Run \`cloche host ${host.addCommand ? "connect" : "repair"} ${host.name}\``;
