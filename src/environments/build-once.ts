import type { BuildContext, BuildManner } from "./definition.ts";
import type { Built, EnvironmentCache } from "./environment-cache.ts";
import type { Clock } from "../base/clock.ts";
import { ClocheError, errnoOf, isClocheError, messageOf } from "../base/errors.ts";
import type { IdMap } from "../base/id-map.ts";
import type { Log } from "../base/log.ts";
import { removeTree } from "../base/remove-tree.ts";
import { measureTree } from "../base/walk-tree.ts";
import { failure } from "../model/error-codes.ts";
import { takeBuildLock } from "../walls/build-lock.ts";
import { chmod, lchown, mkdir } from "node:fs/promises";
import { join } from "node:path";

/** Where things are built, and for whom. */
export interface Builder {
  readonly cache: EnvironmentCache;
  readonly idMap: IdMap;
  readonly log: Log;
  readonly clock: Clock;
}

/** A tree that can be built. */
export interface Buildable {
  readonly name: string;
  build(context: BuildContext): Promise<void>;
}

/** What is in the cache under that name and digest; built when it is not there, once, however many processes ask. */
export async function buildOnce(builder: Builder, what: Buildable, digest: string, how: BuildManner): Promise<Built> {
  const { cache } = builder;
  const { name } = what;
  const { progress, signal } = how;
  const warm = await cache.find(name, digest);
  if (warm) return warm;
  try {
    await cache.prepare();
    const onWait = () => progress({ step: `waiting for another build of ${name}` });
    const lock = await takeBuildLock(cache.lockFile(name), { signal, onWait });
    try {
      await cache.clean(name);
      return (await cache.find(name, digest)) ?? (await build(builder, what, digest, how));
    } finally {
      await lock.release();
    }
  } catch (error) {
    throw asBuildFailure(name, error, signal);
  }
}

async function build(
  { cache, idMap, log, clock }: Builder,
  what: Buildable,
  digest: string,
  how: BuildManner,
): Promise<Built> {
  const { name } = what;
  const { signal } = how;
  const started = clock.now();
  log.info("building environment", { environment: name, digest });
  const temporary = await cache.createTemporary(name);
  try {
    const [rootfs, scratch] = [join(temporary, "rootfs"), join(temporary, "scratch")];
    await mkdir(rootfs);
    await mkdir(scratch);
    await what.build({ rootfs, scratch, idMap, ...how });
    await removeTree(scratch);
    const { uid, gid } = idMap.toHost(0, 0);
    await lchown(rootfs, uid, gid);
    await chmod(rootfs, 0o755);
    signal?.throwIfAborted();
    const size_bytes = await measureTree(rootfs);
    const built = await cache.finish(temporary, { name, digest, built_at: clock.now(), size_bytes });
    log.info("built environment", { environment: name, size_bytes, seconds: clock.now() - started });
    return built;
  } catch (error) {
    await removeTree(temporary).catch((second: unknown) =>
      log.warn("cannot remove a failed build", { path: temporary, reason: messageOf(second) }),
    );
    throw error;
  }
}

function asBuildFailure(name: string, error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted)
    return failure("CANCELLED", `The build of environment "${name}" was cancelled`, { cause: error });
  if (isClocheError(error)) return withName(name, error);
  const disk = ["ENOSPC", "EDQUOT"].includes(errnoOf(error) ?? "");
  if (disk) return failure("DISK_FULL", `Cannot build environment "${name}": no space is left`, { cause: error });
  return withName(
    name,
    failure("ENVIRONMENT_BUILD_FAILED", `Cannot build environment "${name}": ${messageOf(error)}`, { cause: error }),
  );
}

/** The step that failed does not know what it was a step of; the command in its hint is to be typed as it is shown. */
function withName(name: string, error: ClocheError): ClocheError {
  const hint = error.hint.replace("`cloche env pull NAME", () => `\`cloche env pull ${name}`);
  if (hint === error.hint) return error;
  const { code, message, details, cause } = error;
  return new ClocheError(code, message, hint, { cause, ...(details && { details: { ...details } }) });
}
