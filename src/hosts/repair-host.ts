import { dirname } from "node:path";
import type { HostChange, HostName } from "../model/host.ts";
import { compareEntry } from "./compare-entry.ts";
import { backUp, readConfig, setEntry, writeConfig } from "./config-file.ts";
import { diffEntries } from "./entry-diff.ts";
import { describeChange, notInstalled, type ChangeRequest } from "./host-change.ts";
import { HOST_TABLE, homeOf } from "./hosts.ts";
import { isInstalled } from "./is-installed.ts";
import { canonicalEntry } from "./server-entry.ts";

/** Writes our entry as it should be into the host's file, and touches nothing else in it. */
export async function repairHost(name: HostName, request: ChangeRequest): Promise<HostChange> {
  const host = HOST_TABLE[name];
  const { launcher, options, home } = request;
  const file = await readConfig(host, launcher.env);
  if (!isInstalled(host, launcher.env)) {
    const own = dirname(file.path) === homeOf(launcher.env) ? file.path : dirname(file.path);
    throw notInstalled(host, `neither \`${host.program}\` nor "${own}" is there`);
  }
  const canonical = canonicalEntry(launcher, options);
  const { wanted, why } = file.entry
    ? compareEntry(host, file.entry, request)
    : { wanted: host.write(canonical), why: "It is not there" };
  const entry = host.read(wanted) ?? canonical;
  if (why === undefined) return describeChange(host, file, entry, undefined);

  const text = setEntry(host, file, wanted);
  const backup = await backUp(host, file, home);
  await writeConfig(file.path, text);
  return describeChange(host, file, entry, { diff: await diffEntries(host, file.entry, wanted), backup });
}
