import { execFile } from "node:child_process";
import { messageOf } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import type { ConnectableHost, HostChange } from "../model/host.ts";
import { compareEntry } from "./compare-entry.ts";
import { CannotSet, isTable, sameValue, withEntry } from "./config-document.ts";
import { backUp, readConfig, writeConfig, type ConfigFile } from "./config-file.ts";
import { diffEntries } from "./entry-diff.ts";
import { findProgram } from "./find-program.ts";
import { describeChange, notInstalled, type ChangeRequest } from "./host-change.ts";
import type { Host, Table } from "./host.ts";
import { HOST_TABLE } from "./hosts.ts";
import { canonicalEntry, SERVER_NAME, type Environment } from "./server-entry.ts";

const ADD_DEADLINE_MS = 60_000;

/** Adds our entry with the host's own command. One that is there and right stays; one that differs is for `repairHost`. */
export async function connectHost(name: ConnectableHost, request: ChangeRequest): Promise<HostChange> {
  const host = HOST_TABLE[name];
  const { launcher, options, home } = request;
  const program = findProgram(host.program, launcher.env);
  if (program === undefined) throw notInstalled(host, `\`${host.program}\` is not on the PATH`);
  const before = await readConfig(host, launcher.env);
  if (before.entry) return await keepEntry(host, before, before.entry, request);

  const entry = canonicalEntry(launcher, options);
  const backup = await backUp(host, before, home);
  try {
    await runCommand(host, { program, words: host.addCommand?.(SERVER_NAME, entry) ?? [], env: launcher.env });
    const after = await readConfig(host, launcher.env);
    if (!after.entry || !sameValue(host.read(after.entry), entry))
      throw new Error(`${host.title} says that it added the server, and it is not in "${after.path}"`);
    if (!sameValue(otherServers(host, before), otherServers(host, after)))
      throw new Error(`${host.title} changed other servers in "${after.path}"`);
    await putFormBack(host, before, after, after.entry);
    return describeChange(host, after, entry, { diff: await diffEntries(host, undefined, after.entry), backup });
  } catch (error) {
    throw failure("HOST_FAILED", messageOf(error), {
      hint: backup
        ? `The file as it was is in "${backup}"; \`cloche host repair ${name}\` does without ${host.title}'s command`
        : `\`cloche host repair ${name}\` does without ${host.title}'s command`,
      cause: error,
    });
  }
}

async function keepEntry(host: Host, file: ConfigFile, table: Table, request: ChangeRequest): Promise<HostChange> {
  const { wanted, why } = compareEntry(host, table, request);
  if (why === undefined)
    return describeChange(host, file, host.read(table) ?? canonicalEntry(request.launcher), undefined);
  throw failure("HOST_DRIFTED", `${host.title} has a server "${SERVER_NAME}" already. ${why}`, {
    hint: `Run \`cloche host repair ${host.name}\` with the same options to change it`,
    details: { diff: await diffEntries(host, table, wanted) },
  });
}

/**
 * A host's command may write all servers anew, and drop the comments between them. Where the user's own text with our entry in it says
 * the same, that text stays.
 */
async function putFormBack(host: Host, before: ConfigFile, after: ConfigFile, entry: Table): Promise<void> {
  if (!before.exists || host.format === "json") return; // a file of the host's own, which it writes anew at every start
  const same = sameValue(withEntry(before.document.value, host.table, SERVER_NAME, entry), after.document.value);
  const text = same ? trySet(host, before, entry) : undefined;
  if (text !== undefined) await writeConfig(before.path, text);
}

function trySet(host: Host, { document }: ConfigFile, entry: Table): string | undefined {
  try {
    return document.set(host.table, SERVER_NAME, entry);
  } catch (error) {
    if (error instanceof CannotSet) return undefined;
    throw error;
  }
}

function otherServers(host: Host, { document }: ConfigFile): Table {
  const servers = document.value[host.table];
  return Object.fromEntries(Object.entries(isTable(servers) ? servers : {}).filter(([name]) => name !== SERVER_NAME));
}

function runCommand(host: Host, run: { program: string; words: readonly string[]; env: Environment }): Promise<void> {
  return new Promise((done, fail) => {
    const options = { env: run.env, timeout: ADD_DEADLINE_MS, killSignal: "SIGKILL" as const };
    execFile(run.program, run.words, options, (error, stdout, stderr) => {
      const said = (stderr.trim() || stdout.trim() || messageOf(error)).split("\n").slice(0, 5).join(" ");
      if (error === null) done();
      else fail(new Error(`\`${host.program} mcp add\` failed: ${said}`));
    });
  });
}
