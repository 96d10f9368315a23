import { errnoOf } from "../base/errors.ts";
import type { IdMap } from "../base/id-map.ts";
import { failure } from "../model/error-codes.ts";
import { FILE_DATABASES } from "../model/names.ts";
import { constants } from "node:fs";
import { chmod, lchown, lstat, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export const AGENT = { name: "agent", uid: 1000, gid: 1000, home: "/home/agent" } as const;

interface Folder {
  readonly path: string;
  readonly mode: number;
  readonly agent?: true;
}

/** What a wall mounts on and what programs expect of any system. Parents come before their children. */
export const FOLDERS: readonly Folder[] = [
  ...["workspace", "proc", "sys", "dev", "run", "etc", "home", "mnt", "media", "srv"].map((path) => ({
    path,
    mode: 0o755,
  })),
  ...["var", "var/lib", "var/cache", "var/log"].map((path) => ({ path, mode: 0o755 })),
  { path: "tmp", mode: 0o1777 },
  { path: "var/tmp", mode: 0o1777 },
  { path: "root", mode: 0o700 },
  { path: "home/agent", mode: 0o755, agent: true },
];

export const LINKS: Readonly<Record<string, string>> = {
  "var/run": "/run",
  "var/lock": "/run/lock",
  "etc/mtab": "/proc/self/mounts",
};

/** Files that are the same in every environment: no name is resolved by anything but these. */
export const FILES: Readonly<Record<string, string>> = {
  "etc/hostname": "cloche\n",
  "etc/hosts": "127.0.0.1 localhost cloche\n::1 localhost ip6-localhost ip6-loopback\n",
  "etc/resolv.conf": "",
  "etc/nsswitch.conf": FILE_DATABASES.map((database) => `${database}: files\n`).join(""),
};

const PASSWD = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
const GROUP = "root:x:0:\ntty:x:5:\nnogroup:x:65534:\n";

/** Adds mount points, the user `agent` and the fixed files to a root file system, whatever is there already. */
export async function addSystemFiles(rootfs: string, idMap: IdMap): Promise<void> {
  for (const folder of FOLDERS) await addFolder(rootfs, folder.path, folder.mode, idMap, folder.agent && AGENT);
  for (const [path, target] of Object.entries(LINKS)) await addLink(rootfs, path, target, idMap);
  for (const [path, text] of Object.entries(FILES)) await addFile(rootfs, path, text, 0o644, idMap);
  await addAccount(rootfs, "etc/passwd", PASSWD, `agent:x:1000:1000:agent:${AGENT.home}:/bin/bash`, idMap);
  await addAccount(rootfs, "etc/group", GROUP, "agent:x:1000:", idMap);
}

export async function addFolder(
  rootfs: string,
  path: string,
  mode: number,
  idMap: IdMap,
  owner: { uid: number; gid: number } = { uid: 0, gid: 0 },
): Promise<void> {
  const target = join(rootfs, path);
  try {
    await mkdir(target, { mode });
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    await requireFolder(target, path);
  }
  await chmod(target, mode);
  await own(target, idMap, owner);
}

export async function addLink(rootfs: string, path: string, target: string, idMap: IdMap): Promise<void> {
  const link = await emptyPlace(rootfs, path);
  await symlink(target, link);
  await own(link, idMap);
}

export async function addFile(
  rootfs: string,
  path: string,
  data: string | Uint8Array,
  mode: number,
  idMap: IdMap,
): Promise<void> {
  const target = await emptyPlace(rootfs, path);
  await writeFile(target, data, { mode, flag: "wx" });
  await chmod(target, mode);
  await own(target, idMap);
}

/** Keeps the accounts that a distribution made; services of it own files. */
async function addAccount(rootfs: string, path: string, fallback: string, line: string, idMap: IdMap): Promise<void> {
  await requireFolder(join(rootfs, dirname(path)), path);
  const [name, , uid] = line.split(":");
  // SECURITY: a link of an image must not have the builder read a file of the host into the environment (G-01)
  const flag = constants.O_RDONLY | constants.O_NOFOLLOW;
  const found = await readFile(join(rootfs, path), { encoding: "utf8", flag }).catch((error: unknown) => {
    if (["ENOENT", "ELOOP"].includes(errnoOf(error) ?? "")) return fallback;
    throw error;
  });
  const others = found.split("\n").filter((other) => {
    const fields = other.split(":");
    return other !== "" && fields[0] !== name && fields[2] !== uid;
  });
  await addFile(rootfs, path, [...others, line, ""].join("\n"), 0o644, idMap);
}

async function emptyPlace(rootfs: string, path: string): Promise<string> {
  await requireFolder(join(rootfs, dirname(path)), path);
  const target = join(rootfs, path);
  await rm(target, { recursive: true, force: true });
  return target;
}

// SECURITY: a link in a built tree must not have the builder write to the host (G-16)
async function requireFolder(target: string, path: string): Promise<void> {
  if ((await lstat(target)).isDirectory()) return;
  throw failure("ENVIRONMENT_BUILD_FAILED", `Cannot add "/${path}" to the environment: its place is not a folder`);
}

async function own(target: string, idMap: IdMap, owner = { uid: 0, gid: 0 }): Promise<void> {
  const { uid, gid } = idMap.toHost(owner.uid, owner.gid);
  await lchown(target, uid, gid);
}
