import { digestOf, type BuildContext, type EnvironmentDefinition } from "./definition.ts";
import { NO_HOST_FOLDERS } from "./host-folders.ts";
import { unpackRootfs } from "./rootfs-tar.ts";
import { failure } from "../model/error-codes.ts";
import { join } from "node:path";

/** Of an environment that was changed for a run. It has a name of its own for each change, so that nothing else of it can change. */
export const changedDigest = (key: string): string => digestOf("changed", key);

const KEY_LENGTH = 16;

/** Differs when the environment or the reason does. */
export const changeKey = (digest: string, reason: unknown): string =>
  digestOf("change", digest, reason).slice(0, KEY_LENGTH);

/** One that is in the cache, or is lost: what it was made with is known to its run alone. */
export function changedDefinition(name: string, key: string, base: EnvironmentDefinition): EnvironmentDefinition {
  return {
    name,
    description: `${base.name} as it was changed for a run`,
    packages: base.packages,
    hostFolders: () => NO_HOST_FOLDERS,
    digest: () => Promise.resolve(changedDigest(key)),
    build: () => {
      throw failure("ENVIRONMENT_NOT_FOUND", `The environment "${name}" is not in the cache any more`, {
        hint: "Take its run up with `cloche resume`, which makes it again",
      });
    },
  };
}

/** Makes an environment of what a sandbox has packed. SECURITY: unpacked as an image is, whose makers nobody trusts either (G-21, G-24) */
export async function unpackChanged(context: BuildContext, pack: (archive: string) => Promise<void>): Promise<void> {
  const archive = join(context.scratch, "rootfs.tar");
  await pack(archive);
  await unpackRootfs(archive, context, { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C.UTF-8" });
}
