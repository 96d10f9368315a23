import { existsSync } from "node:fs";
import { mkdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { writeFileAtomic } from "../base/atomic-write.ts";
import { errnoOf, messageOf } from "../base/errors.ts";
import { makePrivateFolder } from "../base/private-folder.ts";
import { failure } from "../model/error-codes.ts";
import { BadSyntax, CannotSet, isTable, type ConfigDocument } from "./config-document.ts";
import type { Host, Table } from "./host.ts";
import { parseDocument } from "./parse-document.ts";
import { SERVER_NAME, type Environment } from "./server-entry.ts";

/** A host's file as it is now. */
export interface ConfigFile {
  readonly path: string;
  readonly exists: boolean;
  readonly document: ConfigDocument;
  /** Our entry, whatever is in it. */
  readonly entry: Table | undefined;
}

const BOM = "\uFEFF";

export const configPath = (host: Host, env: Environment): string => host.configPath(env, existsSync);

/**
 * Throws CONFIG_INVALID for a file that is not what the host takes, and says where.
 *
 * SECURITY: Claude Code puts an empty file in place of one that it cannot parse, so neither its command nor ours touches a file
 * before it was read as a whole (G-20)
 */
export async function readConfig(host: Host, env: Environment): Promise<ConfigFile> {
  const path = configPath(host, env);
  const content = await readFile(path).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw invalid(`Cannot read "${path}": ${messageOf(error)}`, error);
  });
  const document = await parseContent(host, path, content);
  const servers = document.value[host.table] ?? {};
  if (!isTable(servers)) throw invalid(`"${host.table}" in "${path}" is not a table of servers`);
  const entry = servers[SERVER_NAME];
  if (entry !== undefined && !isTable(entry))
    throw invalid(`"${host.table}.${SERVER_NAME}" in "${path}" is not a server`);
  return { path, exists: content !== undefined, document, entry };
}

async function parseContent(host: Host, path: string, content: Buffer | undefined): Promise<ConfigDocument> {
  if (content === undefined) return await parseDocument(host.format, host.format === "toml" ? "" : "{}\n");
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
    const mark = text.startsWith(BOM) ? BOM : "";
    const document = await parseDocument(host.format, text.slice(mark.length));
    return { value: document.value, set: (...change) => mark + document.set(...change) };
  } catch (error) {
    if (error instanceof BadSyntax)
      throw invalid(`Cannot read "${path}": line ${error.line}, column ${error.column}: ${error.message}`, error);
    if (error instanceof TypeError) throw invalid(`Cannot read "${path}": it is no UTF-8 text`, error);
    throw error;
  }
}

const invalid = (message: string, cause?: unknown) =>
  failure("CONFIG_INVALID", message, { hint: "Correct the file and try again; it is as it was", cause });

/** Our entry set, everything else as it was. Throws CONFIG_INVALID where the form of the file does not allow it. */
export function setEntry(host: Host, file: ConfigFile, entry: Table): string {
  try {
    return file.document.set(host.table, SERVER_NAME, entry);
  } catch (error) {
    if (!(error instanceof CannotSet)) throw error;
    throw failure(
      "CONFIG_INVALID",
      `"${host.table}" in "${file.path}" has a form in which one server cannot be changed without the others`,
      { hint: `Put in by hand what \`cloche host print-config ${host.name}\` prints`, cause: error },
    );
  }
}

/** Goes through links, as a folder of dotfiles has them, and keeps the file's mode. */
export async function writeConfig(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const mode = await stat(target).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  await orFail(`Cannot write "${target}"`, async () => {
    await mkdir(dirname(target), { recursive: true });
    await writeFileAtomic(target, text, mode);
  });
}

/** Keeps the file as it is in the cloche home; null when there is none. Nothing is changed that could not be kept. */
export async function backUp(host: Host, file: ConfigFile, home: string): Promise<string | null> {
  if (!file.exists) return null;
  const folder = join(home, "host-backups");
  const time = new Date().toISOString().replaceAll(/[:.]/g, "-");
  const backup = join(folder, `${host.name}-${time}-${basename(file.path).replace(/^\./, "")}`);
  await orFail(`Cannot keep a copy of "${file.path}" in "${folder}"`, async () => {
    makePrivateFolder(home);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // SECURITY: a host's configuration may hold tokens, so the copy is closed to other users, whatever mode the file had (G-14)
    await writeFile(backup, await readFile(file.path), { mode: 0o600, flag: "wx" });
  });
  return backup;
}

async function orFail(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const code = errnoOf(error) === "ENOSPC" ? "DISK_FULL" : "HOST_FAILED";
    const hint = "Make the named place one you can write to, then try again; nothing was changed";
    throw failure(code, `${what}: ${messageOf(error)}`, { hint, cause: error });
  }
}
