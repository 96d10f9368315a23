import { createHash } from "node:crypto";
import { chownSync, closeSync, openSync, readdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { chmod, chown, truncate } from "node:fs/promises";
import { basename } from "node:path";
import type { IdMap } from "../../base/id-map.ts";
import { walkTree } from "../../base/walk-tree.ts";
import type { Rootfs } from "../../contracts/environment.ts";
import { failure } from "../../model/error-codes.ts";
import { AGENT } from "../../model/names.ts";
import { guestProgram } from "../../walls/guest-program.ts";
import { idMapArguments } from "../../walls/id-map-arguments.ts";
import { runTool } from "./run-tool.ts";
import type { VmCache } from "./vm-cache.ts";

/**
 * Every disk of a machine has this size, most of it a hole: a machine learns the size of its disks when it boots, and is thawed with others.
 */
const DISK_BYTES = 64 * 1024 ** 3;
/** Goes up when images that are packed get another form, or other rights. */
const FORM = 2;
const LONG_NAME_BYTES = 255;
const FRESH_DISK = "disks/fresh-1";
const EMPTY_DISK = "disks/empty-1";

export class DiskImages {
  readonly #cache: VmCache;
  readonly #idMap: IdMap;

  constructor(cache: VmCache, idMap: IdMap) {
    this.#cache = cache;
    this.#idMap = idMap;
  }

  get #form(): string {
    return `${this.#idMap.kind}-${FORM}`;
  }

  /** In the cache. */
  environmentName(digest: string): string {
    return `environments/${digest}-${this.#form}`;
  }

  /** Whether it is an environment's name that could be one of ours: another user's differ in the owners of their files. Also one of an earlier form. */
  isOwn(name: string): boolean {
    return new RegExp(`-${this.#idMap.kind}(-\\d+)?$`).test(name);
  }

  /** The names in the cache of what the disks of any machine are copied from. */
  get common(): string[] {
    return [FRESH_DISK, EMPTY_DISK];
  }

  /** The environment as a read-only file system. */
  async environment({ digest, root }: Rootfs, signal?: AbortSignal): Promise<string> {
    const name = this.environmentName(digest);
    return await this.#cache.make(name, (path) => this.#pack(root, path, { uid: 0, gid: 0 }, signal), { signal });
  }

  /** A seed as a read-only file system; nothing when there is nothing in it. A seed never changes. */
  async seed(tree: string, signal?: AbortSignal): Promise<string | undefined> {
    if (readdirSync(tree).length === 0) return undefined;
    const pack = async (path: string) => {
      try {
        await this.#pack(tree, path, AGENT, signal);
      } catch (error) {
        throw (await findLongName(tree).catch(() => undefined)) ?? error;
      }
    };
    return await this.#cache.make(this.seedName(tree), pack, { signal });
  }

  /** In the cache. */
  seedName(tree: string): string {
    const { ino, mtimeMs } = statSync(tree);
    const digest = createHash("sha256")
      .update(JSON.stringify([tree, ino, mtimeMs, this.#form]))
      .digest("hex");
    return `seeds/${digest.slice(0, 40)}`;
  }

  /** A disk with an empty file system, to be copied. */
  async fresh(signal?: AbortSignal): Promise<string> {
    return await this.#cache.make(FRESH_DISK, async (path) => {
      makeHole(path);
      const extended = "lazy_itable_init=1,lazy_journal_init=1,nodiscard,packed_meta_blocks=1,root_owner=0:0";
      // prettier-ignore
      const argv = ["mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", "-i", "65536", "-J", "size=16", "-O", "^resize_inode", "-E", extended, path] as const;
      await runTool({ argv: [...argv], package: "e2fsprogs", signal });
    });
  }

  /** What stands in for a disk that a machine does not have. */
  async empty(): Promise<string> {
    return await this.#cache.make(EMPTY_DISK, (path) => {
      makeHole(path);
      return Promise.resolve();
    });
  }

  async #pack(folder: string, path: string, owner: { uid: number; gid: number }, signal?: AbortSignal): Promise<void> {
    const shifted = this.#idMap.kind === "shifted";
    const options = ["--quiet", "--preserve-mtime"];
    const file = openSync(path, "wx+", 0o600);
    try {
      if (shifted) {
        const { uid, gid } = this.#idMap.toHost(0, 0);
        chownSync(path, uid, gid);
        // As the sandbox's root, who sees the owners that the sandbox is to see.
        const command = ["mkfs.erofs", ...options, "/proc/self/fd/3", "."];
        const argv = [
          guestProgram(),
          "mapped",
          ...idMapArguments(this.#idMap),
          "--in",
          folder,
          "--",
          ...command,
        ] as const;
        await runTool({ argv: [...argv], package: "erofs-utils", file, signal });
      } else {
        // A user other than root has one id on the host, so all files have that owner there, whatever owner they have in the sandbox.
        const owned = [`--force-uid=${owner.uid}`, `--force-gid=${owner.gid}`];
        const argv = ["mkfs.erofs", ...options, ...owned, "/proc/self/fd/3", folder] as const;
        await runTool({ argv: [...argv], package: "erofs-utils", file, signal });
      }
    } finally {
      closeSync(file);
    }
    if (shifted) await chown(path, 0, 0);
    await truncate(path, DISK_BYTES);
    // SECURITY: a project is read through a descriptor that its own machines get, by no other user and no other emulator (G-22).
    await chmod(path, 0o400);
  }
}

/** The packer of Debian 12 cuts a name of the longest that Linux has, and does not find it then. */
async function findLongName(tree: string): Promise<Error | undefined> {
  for await (const { path } of walkTree(tree)) {
    const name = basename(path);
    if (Buffer.byteLength(name) < LONG_NAME_BYTES) continue;
    return failure("SEED_INVALID", `Cannot make a machine's disk with "${name.slice(0, 40)}…": its name is too long`, {
      hint: `Give it a name of less than ${LONG_NAME_BYTES} bytes, or use another backend`,
    });
  }
  return undefined;
}

/** A disk that is nothing but a hole. */
export function makeHole(path: string): void {
  writeFileSync(path, "", { mode: 0o600 });
  truncateSync(path, DISK_BYTES);
}

/** Copies a disk, and its holes as holes; shares the blocks where the file system can. The copy is its owner's to write, and nobody else's to read. */
export async function copyDisk(from: string, to: string, signal?: AbortSignal): Promise<void> {
  await runTool({ argv: ["cp", "--sparse=always", "--reflink=auto", "--", from, to], package: "coreutils", signal });
  await chmod(to, 0o600);
}
