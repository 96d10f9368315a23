import { writeFileAtomic } from "../base/atomic-write.ts";
import { errnoOf } from "../base/errors.ts";
import type { IdMap } from "../base/id-map.ts";
import { randomName } from "../base/ids.ts";
import { environmentsFolder } from "../base/paths.ts";
import { makePrivateFolder, requirePrivateFolder } from "../base/private-folder.ts";
import { removeTree } from "../base/remove-tree.ts";
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";

/** `environment.json`, written last: a folder without it is no environment. */
export interface BuiltRecord {
  readonly name: string;
  readonly digest: string;
  readonly built_at: number;
  readonly size_bytes: number;
}

export interface Built extends BuiltRecord {
  readonly folder: string;
  readonly root: string;
}

const DIGEST_LENGTH = 12;

/**
 * A folder of built trees, of environments unless said: `NAME-DIGEST-KIND/{rootfs/,environment.json}`, where KIND says how files are owned. What is being built or
 * removed has a name that starts with `.tmp-NAME-KIND-` and belongs to the process that holds the lock of that name.
 */
export class EnvironmentCache {
  readonly folder: string;
  readonly #cachePath: string;
  readonly #kind: IdMap["kind"];

  constructor(cachePath: string, kind: IdMap["kind"], folder: "environments" | "programs" = "environments") {
    this.#cachePath = cachePath;
    this.folder = environmentsFolder(cachePath, folder);
    this.#kind = kind;
  }

  lockFile(name: string): string {
    return join(this.folder, `.lock-${safeName(name)}-${this.#kind}`);
  }

  async prepare(): Promise<void> {
    makePrivateFolder(this.#cachePath);
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
  }

  async find(name: string, digest: string): Promise<Built | undefined> {
    // SECURITY: what somebody else has put there is no environment (G-24)
    requirePrivateFolder(this.#cachePath);
    const folder = join(this.folder, `${safeName(name)}-${digest.slice(0, DIGEST_LENGTH)}-${this.#kind}`);
    const built = this.#read(folder);
    return await Promise.resolve(built?.name === name && built.digest === digest ? built : undefined);
  }

  /** Of everything that is built. */
  async names(): Promise<string[]> {
    return [...new Set((await this.#built()).map(({ name }) => name))].sort();
  }

  /** Of everything that is built. */
  async digests(): Promise<Set<string>> {
    return new Set((await this.#built()).map(({ digest }) => digest));
  }

  /** Every finished build of a name, the newest first. */
  async all(name: string): Promise<Built[]> {
    const pattern = new RegExp(`^[0-9a-f]{${DIGEST_LENGTH}}-${this.#kind}$`);
    const prefix = `${safeName(name)}-`;
    const names = (await this.#entries()).filter(
      (entry) => entry.startsWith(prefix) && pattern.test(entry.slice(prefix.length)),
    );
    const built = names.map((entry) => this.#read(join(this.folder, entry)));
    return built.filter((one): one is Built => one?.name === name).sort((a, b) => b.built_at - a.built_at);
  }

  async createTemporary(name: string): Promise<string> {
    const folder = join(this.folder, `${this.#temporaryPrefix(name)}${randomName(8)}`);
    // SECURITY: nobody else gets to what an image brings, neither while it is built nor later; walls open it before they become others (G-24)
    await mkdir(folder, { mode: 0o700 });
    return folder;
  }

  /** Turns a temporary folder with a finished `rootfs` into the environment. */
  async finish(temporary: string, record: BuiltRecord): Promise<Built> {
    const folder = join(this.folder, `${safeName(record.name)}-${record.digest.slice(0, DIGEST_LENGTH)}-${this.#kind}`);
    await writeFileAtomic(join(temporary, "environment.json"), `${JSON.stringify(record, null, 2)}\n`, 0o644);
    await this.#discard(record.name, folder); // something broken may be in the place
    await rename(temporary, folder);
    return { ...record, folder, root: join(folder, "rootfs") };
  }

  /** Needs the lock. The name goes first, so that a removal that is cut off leaves nothing that looks whole. */
  async remove(built: Built): Promise<void> {
    await this.#discard(built.name, built.folder);
  }

  /** Removes what dead builders of a name left. Needs the lock. */
  async clean(name: string): Promise<void> {
    const left = (await this.#entries()).filter((entry) => entry.startsWith(this.#temporaryPrefix(name)));
    for (const entry of left) await removeTree(join(this.folder, entry));
  }

  async #discard(name: string, folder: string): Promise<void> {
    const grave = join(this.folder, `${this.#temporaryPrefix(name)}${randomName(8)}`);
    try {
      await rename(folder, grave);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return;
      throw error;
    }
    await removeTree(grave);
  }

  async #built(): Promise<Built[]> {
    const entries = (await this.#entries()).filter(
      (entry) => !entry.startsWith(".") && entry.endsWith(`-${this.#kind}`),
    );
    const built = entries.map((entry) => this.#read(join(this.folder, entry)));
    return built.filter((one) => one !== undefined);
  }

  #temporaryPrefix(name: string): string {
    return `.tmp-${safeName(name)}-${this.#kind}-`;
  }

  async #entries(): Promise<string[]> {
    try {
      return await readdir(this.folder);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return [];
      throw error;
    }
  }

  /** Synchronous on purpose: a create waits for it, and each step on another thread costs more than the whole look. */
  #read(folder: string): Built | undefined {
    try {
      const record: unknown = JSON.parse(readFileSync(join(folder, "environment.json"), "utf8"));
      const root = join(folder, "rootfs");
      if (!isBuiltRecord(record) || !statSync(root).isDirectory()) return undefined;
      return { ...record, folder, root };
    } catch {
      return undefined; // missing, cut off or damaged: either way there is nothing here that can be used
    }
  }
}

function isBuiltRecord(value: unknown): value is BuiltRecord {
  if (typeof value !== "object" || value === null) return false;
  const { name, digest, built_at, size_bytes } = value as Record<string, unknown>;
  return [name, digest].every((field) => typeof field === "string") && [built_at, size_bytes].every(Number.isFinite);
}

const MAX_NAME_LENGTH = 80;

/** As part of a file's name. A long one is cut, and told apart by its hash. */
function safeName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9.]/g, "_");
  if (safe.length <= MAX_NAME_LENGTH) return safe;
  return `${safe.slice(0, MAX_NAME_LENGTH)}_${createHash("sha256").update(name).digest("hex").slice(0, 8)}`;
}
