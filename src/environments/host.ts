import { digestOf, type BuildContext, type EnvironmentDefinition } from "./definition.ts";
import { HOST_FOLDERS, TOP_LEVEL } from "./host-allowlist.ts";
import { listHostEntries, readHostFile, type HostEntry, type KnownFolders } from "./host-files.ts";
import { hostFolders, type HostFolders } from "./host-folders.ts";
import { addFile, addFolder, addLink, addSystemFiles, FILES } from "./system-files.ts";
import { createHash } from "node:crypto";
import { lstatSync, readlinkSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

export interface HostOptions {
  /** The root of the host's file system. */
  readonly root?: string;
  /** Places that must not show through, whatever is below what else: the user's home, the cache. */
  readonly hidden?: readonly string[];
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** For how long one look at the host's `/etc` is good: workspaces created in a row share it. */
const FRESH_MS = 1000;
/** A create looks at the folders for its digest, and a few milliseconds later for its mounts: it is one look. */
const SAME_LOOK_MS = 20;

/**
 * The environment `host`: the host's own `/usr` shows through, read-only, over a small skeleton of links, mount points and a copy of the
 * public part of `/etc`. It needs no download and is built in an instant, again whenever the copied files have changed.
 */
export function createHostDefinition(options: HostOptions = {}): EnvironmentDefinition {
  const { root = "/", hidden = [homedir()], now = () => performance.now() } = options;
  const etc = join(root, "etc");
  const known: KnownFolders = new Map();
  let seen: { at: number; stamp: string; digest: string } | undefined;
  let look: { at: number; folders: HostFolders } | undefined;

  async function digest(): Promise<string> {
    if (seen && now() - seen.at < FRESH_MS) return seen.digest;
    const at = now();
    const entries = listHostEntries(etc, undefined, known);
    const folders = foldersOf(root, hidden);
    look = { at: now(), folders };
    const layout = [topLevelOf(root), folders.shown];
    const stamp = stampOf(layout, entries);
    const current = seen?.stamp === stamp ? seen.digest : digestOf(layout, await contentsOf(etc, entries));
    seen = { at, stamp, digest: current };
    return current;
  }

  return {
    name: "host",
    description: "The host's own system folders, read-only, without homes and secrets",
    packages: [],
    hostFolders: () => {
      const before = look;
      look = undefined;
      return before && now() - before.at < SAME_LOOK_MS ? before.folders : foldersOf(root, hidden);
    },
    digest,
    build: (context) => buildSkeleton(context, root, foldersOf(root, hidden).shown),
  };
}

async function buildSkeleton(
  { rootfs, idMap, signal, progress }: BuildContext,
  root: string,
  shown: readonly string[],
) {
  progress({ step: "copying public files of /etc" });
  await addSystemFiles(rootfs, idMap);
  for (const { name, target } of topLevelOf(root)) await addLink(rootfs, name, target, idMap);
  for (const path of shown) {
    if (dirname(path) !== "/") await addFolder(rootfs, dirname(path).slice(1), 0o755, idMap);
    await addFolder(rootfs, path.slice(1), 0o755, idMap);
  }
  const etc = join(root, "etc");
  for (const entry of listHostEntries(etc)) {
    signal?.throwIfAborted();
    const path = `etc/${entry.path}`;
    if (Object.hasOwn(FILES, path)) continue;
    if (entry.kind === "folder") await addFolder(rootfs, path, 0o755, idMap);
    else if (entry.kind === "link") await addLink(rootfs, path, entry.target ?? "", idMap);
    else {
      const data = await readHostFile(etc, entry.path);
      if (data) await addFile(rootfs, path, data, 0o644, idMap);
    }
  }
}

/** Differs when the digest may differ; only compared, so there is nothing to hash. */
const stampOf = (layout: unknown, entries: readonly HostEntry[]): string =>
  [
    JSON.stringify(layout),
    ...entries.map(({ path, kind, stamp, target = "" }) => `${path}\0${kind}\0${stamp}\0${target}`),
  ].join("\n");

async function contentsOf(etc: string, entries: readonly HostEntry[]): Promise<unknown[]> {
  const contents: unknown[] = [];
  for (const { path, kind, target } of entries) {
    const data = kind === "file" ? await readHostFile(etc, path) : undefined;
    contents.push([path, kind, target ?? null, data ? createHash("sha256").update(data).digest("hex") : null]);
  }
  return contents;
}

/** `/bin` and its like where they are links; where they are folders they are host paths. */
function topLevelOf(root: string): { name: string; target: string }[] {
  return TOP_LEVEL.filter((name) => lstatSync(join(root, name), { throwIfNoEntry: false })?.isSymbolicLink()).map(
    (name) => ({
      name,
      target: readlinkSync(join(root, name)),
    }),
  );
}

function foldersOf(root: string, hidden: readonly string[]): HostFolders {
  const separate = TOP_LEVEL.filter((name) => lstatSync(join(root, name), { throwIfNoEntry: false })?.isDirectory());
  const present = HOST_FOLDERS.filter((name) => statSync(join(root, name), { throwIfNoEntry: false })?.isDirectory());
  return hostFolders(
    root,
    [...separate, ...present].map((name) => `/${name}`),
    hidden,
  );
}
