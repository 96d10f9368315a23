import { spawn } from "node:child_process";
import { isClocheError, messageOf } from "../../base/errors.ts";
import type { IdMap } from "../../base/id-map.ts";
import type { Log } from "../../base/log.ts";
import type { PrepareOptions, PruneKeep, Removed } from "../../contracts/backend.ts";
import type { Rootfs } from "../../contracts/environment.ts";
import { CacheImages } from "../../docker-engine/cache-images.ts";
import type { DockerEngine } from "../../docker-engine/engine.ts";
import { isRefusal, refused } from "../../docker-engine/engine-failure.ts";
import { failure } from "../../model/error-codes.ts";

/** Environments as images of an engine: imported once for each content, with the owners that the files have on the host. */
export class EnvironmentImages {
  readonly #images: CacheImages;
  /** What Dockerfiles were built to on the way to an environment; kept while it is there, so that the next build finds its steps. */
  readonly #built: CacheImages;
  readonly #log: Log;
  /** Under way or done, by engine and image. */
  readonly #imports = new Map<string, Promise<void>>();

  constructor(cachePath: string, kind: IdMap["kind"], log: Log) {
    this.#images = new CacheImages({ cachePath, kind, repository: "cloche/environment" });
    this.#built = new CacheImages({ cachePath, kind, repository: "cloche/dockerfile" });
    this.#log = log;
  }

  reference(rootfs: Rootfs): string {
    return this.#images.reference(rootfs);
  }

  /** The image's name, once the engine has it. */
  async ensure(engine: DockerEngine, rootfs: Rootfs, options: PrepareOptions = {}): Promise<string> {
    const reference = this.reference(rootfs);
    const key = `${engine.endpoint.address} ${reference}`;
    let imported = this.#imports.get(key);
    if (!imported) {
      imported = this.#import(engine, rootfs, options);
      this.#imports.set(key, imported);
      imported.catch(() => this.#imports.delete(key));
    }
    try {
      await imported;
      return reference;
    } catch (error) {
      // The caller that began it has gone away. This one still wants it, and begins anew.
      if (!isClocheError(error) || error.code !== "CANCELLED" || options.signal?.aborted) throw error;
      return await this.ensure(engine, rootfs, options);
    }
  }

  /** Somebody has removed it from the engine. */
  forget(engine: DockerEngine, rootfs: Rootfs): void {
    this.#imports.delete(`${engine.endpoint.address} ${this.reference(rootfs)}`);
  }

  /** Removes the images of environments of this cache whose digest is not among these; one that any container uses stays, also a container of another program. */
  async prune(engine: DockerEngine, keep: PruneKeep): Promise<Removed[]> {
    const removed = [
      ...(await this.#images.prune(engine, keep.environments, keep)),
      ...(await this.#built.prune(engine, keep.environments, keep)),
    ];
    for (const { reference } of removed) this.#imports.delete(`${engine.endpoint.address} ${reference}`);
    return removed.map(({ reference, sizeBytes }) => ({ name: `docker image ${reference}`, sizeBytes }));
  }

  async #import(engine: DockerEngine, rootfs: Rootfs, { progress, signal }: PrepareOptions): Promise<void> {
    if (await engine.findImage(this.reference(rootfs), signal)) return;
    progress?.({ step: `importing ${rootfs.name} into the Docker engine` });
    const started = performance.now();
    const image = {
      repository: this.#images.repository,
      tag: this.#images.tag(rootfs),
      labels: this.#images.labels(rootfs.name),
    };
    try {
      const tar = packRootfs(rootfs.root);
      // The tar's own failure says more than the engine's about a tar that breaks off.
      await Promise.all([tar.ended, engine.importImage(tar.output, image, signal)]);
    } catch (error) {
      if (isRefusal(error)) throw refused(`Cannot import environment "${rootfs.name}"`, error);
      throw error;
    }
    this.#log.info("imported environment", { environment: rootfs.name, ms: Math.round(performance.now() - started) });
    await this.#removeOlder(engine, rootfs);
  }

  /** Images of earlier contents; one that a container stands on stays. */
  async #removeOlder(engine: DockerEngine, rootfs: Rootfs): Promise<void> {
    try {
      await this.#images.removeOlder(engine, rootfs);
    } catch (error) {
      this.#log.warn("cannot remove older images", { environment: rootfs.name, reason: messageOf(error) });
    }
  }
}

function packRootfs(root: string) {
  // Another name for a file, which a backup makes, counts as a change for tar. The content of an environment never changes.
  const child = spawn("tar", ["--directory", root, "--numeric-owner", "--warning=no-file-changed", "--create", "."], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" },
  });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-500)));
  const ended = new Promise<void>((done, fail) => {
    const broken = (reason: string) => failure("INTERNAL", `Cannot pack the environment at ${root}: ${reason}`);
    child.once("error", (error) => fail(broken(messageOf(error))));
    // When the engine goes away first, its own failure is the one to tell.
    child.once("close", (code, signal) => {
      const isWhole = code === 0 || (code === 1 && complaint === "");
      if (isWhole || signal !== null) done();
      else fail(broken(complaint.trim()));
    });
  });
  ended.catch((error: unknown) => child.stdout.destroy(isClocheError(error) ? error : undefined));
  return { output: child.stdout, ended };
}
