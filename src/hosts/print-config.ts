import type { HostConfig, HostName } from "../model/host.ts";
import { configPath } from "./config-file.ts";
import { HOST_TABLE, wordsOf } from "./hosts.ts";
import { formatEntry } from "./parse-document.ts";
import { canonicalEntry, SERVER_NAME, type Launcher } from "./server-entry.ts";

/** What has to be in a host's file, for people who put it there themselves. */
export async function hostConfig(name: HostName, launcher: Launcher, options: readonly string[]): Promise<HostConfig> {
  const host = HOST_TABLE[name];
  const entry = canonicalEntry(launcher, options);
  const words = host.addCommand?.(SERVER_NAME, entry);
  return {
    host: name,
    config_path: configPath(host, launcher.env),
    config_format: host.format === "toml" ? "toml" : "json",
    config: await formatEntry(host.format, host.table, SERVER_NAME, host.write(entry)),
    add_command: words ? [host.program, ...words] : null,
    command: wordsOf(entry),
  };
}
