import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { isClocheError } from "../../base/errors.ts";
import type { IdMap } from "../../base/id-map.ts";
import { openInodes } from "../../base/open-files.ts";
import type { PruneKeep, Removed } from "../../contracts/backend.ts";
import { answerName } from "./accelerator.ts";
import { bootDigest } from "./boot-files.ts";
import type { DiskImages } from "./disk-images.ts";
import { presentKernel } from "./kernel.ts";
import { findQemu } from "./qemu.ts";
import { type TemplateFacts, readTemplateFacts } from "./template.ts";
import type { VmCache } from "./vm-cache.ts";

/** Enough to tell two of a kind apart. */
const SHOWN_KEY = 12;

/** What machines of this installation are made with now. */
interface Versions {
  readonly qemu: string;
  readonly boot: string;
}

/**
 * Removes from the cache what no machine needs: of environments that are gone, of seeds that no workspace of this home has, of other versions of the emulator,
 * the kernel or the guest program. An emulator of whatever home that has a file open keeps it, and a live snapshot its template: its memory has a second name
 * then. What another home misses later it makes again.
 */
export async function pruneCache(
  cache: VmCache,
  images: DiskImages,
  idMap: IdMap,
  keep: PruneKeep,
): Promise<Removed[]> {
  const versions = await currentVersions(cache);
  const open = await openInodes();
  const isOpen = (path: string): boolean => filesOf(path).some((file) => open.has(statSync(file).ino));
  const removed: Removed[] = [];
  const gone = new Set<string>();
  const clear = async (kind: string, isKept: (name: string, path: string) => boolean): Promise<void> => {
    if (!keep.dryRun) await cache.removeIdleLocks(kind);
    for (const name of await cache.names(kind)) {
      let words = "";
      const isNeeded = (path: string): Promise<boolean> => {
        words = describe(name, path);
        return Promise.resolve(isKept(name, path) || isOpen(path));
      };
      const sizeBytes = await cache.remove(name, isNeeded, keep);
      if (sizeBytes === undefined) continue;
      gone.add(name);
      removed.push({ name: words, sizeBytes });
    }
  };

  const { only } = keep;
  const environments = new Set([...keep.environments].map((digest) => images.environmentName(digest)));
  await clear("templates", (_name, path) => {
    const facts = factsOf(path);
    if (isLinked(join(path, "memory")) || (only && (facts === undefined || !only.has(facts.environment)))) return true;
    return facts !== undefined && isCurrent(facts, versions, keep);
  });
  // A machine that stands still has its environment mounted, and wants the very same image when it goes on.
  // Of one that somebody is making right now nothing is known yet.
  const staying: (TemplateFacts | undefined)[] = [];
  for (const name of await cache.names("templates"))
    if (!gone.has(name) && !(await cache.isAbandoned(name))) staying.push(factsOf(cache.path(name)));
  for (const facts of staying) if (facts) environments.add(images.environmentName(facts.environment));
  const asked = only && new Set([...only].map((digest) => images.environmentName(digest)));
  if (!staying.includes(undefined))
    await clear("environments", (name) => !images.isOwn(name) || environments.has(name) || asked?.has(name) === false);
  if (only) return removed;
  const seeds = new Set([...keep.baselines].filter((tree) => existsSync(tree)).map((tree) => images.seedName(tree)));
  await clear("seeds", (name) => seeds.has(name));
  await clear("disks", (name) => images.common.includes(name));
  if (versions) {
    await clear("boot", (name) => name === `boot/${versions.boot}`);
    await clear("accelerators", (name) => name === answerName(versions.qemu, versions.boot, idMap));
  }
  return removed;
}

const KINDS: Readonly<Record<string, string>> = {
  environments: "disk of an environment, for machines",
  seeds: "disk of a project, for machines",
  disks: "empty disk of an older form",
  boot: "what machines of another version boot from",
  accelerators: "answer whether machines boot",
};

/** What something in the cache is, in the words of a list of removed things. */
function describe(name: string, path: string): string {
  const [kind = "", key = ""] = name.split("/");
  if (kind !== "templates") return `${KINDS[kind] ?? kind} (${key.slice(0, SHOWN_KEY)})`;
  const { environmentName, memMib } = factsOf(path) ?? {};
  return environmentName === undefined || memMib === undefined
    ? `frozen machine of an older version (${key.slice(0, SHOWN_KEY)})`
    : `frozen machine of ${environmentName}, ${memMib} MiB`;
}

/** Undefined when no machine can be made here at all: then nothing tells what is old. */
async function currentVersions(cache: VmCache): Promise<Versions | undefined> {
  try {
    const kernel = presentKernel(cache);
    return kernel && { qemu: (await findQemu()).version, boot: await bootDigest(kernel) };
  } catch (error) {
    if (isClocheError(error)) return undefined;
    throw error;
  }
}

/** Undefined for one that an older version has made, or that is damaged. */
function factsOf(template: string): TemplateFacts | undefined {
  try {
    const facts: Partial<TemplateFacts> = readTemplateFacts(template);
    return facts.environment === undefined ? undefined : (facts as TemplateFacts);
  } catch {
    return undefined; // nobody can thaw it either
  }
}

function isCurrent(
  { qemu, boot, environment }: TemplateFacts,
  versions: Versions | undefined,
  keep: PruneKeep,
): boolean {
  if (!keep.environments.has(environment)) return false;
  return versions === undefined || (qemu === versions.qemu && boot === versions.boot);
}

const isLinked = (path: string): boolean => (statSync(path, { throwIfNoEntry: false })?.nlink ?? 0) > 1;

function filesOf(path: string): string[] {
  return statSync(path).isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [path];
}
