import { spawn } from "node:child_process";
import { isClocheError, messageOf } from "../../base/errors.ts";
import type { IdMap } from "../../base/id-map.ts";
import type { Log } from "../../base/log.ts";
import type { PrepareOptions, Removed } from "../../contracts/backend.ts";
import type { Rootfs } from "../../contracts/environment.ts";
import type { DockerEngine } from "../../docker-engine/engine.ts";
import { isRefusal, refused } from "../../docker-engine/engine-failure.ts";
import { failure } from "../../model/error-codes.ts";
import { ANY_ENVIRONMENT, environmentLabels } from "./labels.ts";

const REPOSITORY = "cloche/environment";
const DIGEST_LENGTH = 12;
const NAME_LENGTH = 60;

/** Environments as images of an engine: imported once for each content, with the owners that the files have on the host. */
export class EnvironmentImages {
  readonly #kind: IdMap["kind"];
  readonly #log: Log;
  /** Under way or done, by engine and image. */
  readonly #imports = new Map<string, Promise<void>>();

  constructor(kind: IdMap["kind"], log: Log) {
    this.#kind = kind;
    this.#log = log;
  }

  reference({ name, digest }: Pick<Rootfs, "name" | "digest">): string {
    return `${REPOSITORY}:${this.#tag(name, digest)}`;
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
      // Whoever began it has gone away; who is still here begins anew.
      if (!isClocheError(error) || error.code !== "CANCELLED" || options.signal?.aborted) throw error;
      return await this.ensure(engine, rootfs, options);
    }
  }

  /** Somebody has removed it from the engine. */
  forget(engine: DockerEngine, rootfs: Rootfs): void {
    this.#imports.delete(`${engine.endpoint.address} ${this.reference(rootfs)}`);
  }

  /** Removes the images of environments whose digest is not among these; one that a container stands on stays, whoever's it is. */
  async prune(engine: DockerEngine, digests: ReadonlySet<string>): Promise<Removed[]> {
    const kept = new Set([...digests].map((digest) => this.#ending(digest)));
    const isOld = (tag: string) =>
      tag.startsWith(`${REPOSITORY}:`) && tag.endsWith(`-${this.#kind}`) && !kept.has(endingOf(tag));
    const removed: Removed[] = [];
    for (const { RepoTags, Size } of await engine.listImages(ANY_ENVIRONMENT)) {
      for (const tag of (RepoTags ?? []).filter(isOld)) {
        if (!(await removeUnlessUsed(engine, tag))) continue;
        this.#imports.delete(`${engine.endpoint.address} ${tag}`);
        removed.push({ name: `docker image ${tag}`, sizeBytes: Size });
      }
    }
    return removed;
  }

  async #import(engine: DockerEngine, rootfs: Rootfs, { progress, signal }: PrepareOptions): Promise<void> {
    if (await engine.findImage(this.reference(rootfs), signal)) return;
    progress?.({ step: `importing ${rootfs.name} into the Docker engine` });
    const started = performance.now();
    const image = {
      repository: REPOSITORY,
      tag: this.#tag(rootfs.name, rootfs.digest),
      labels: environmentLabels(rootfs.name),
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
    const current = this.reference(rootfs);
    try {
      for (const { RepoTags } of await engine.listImages(environmentLabels(rootfs.name)))
        for (const tag of RepoTags ?? []) if (tag !== current && this.#isOurs(tag)) await removeUnlessUsed(engine, tag);
    } catch (error) {
      this.#log.warn("cannot remove older images", { environment: rootfs.name, reason: messageOf(error) });
    }
  }

  /** SECURITY: an image that was made from one of ours has its label too, and is somebody else's (G-21). */
  #isOurs(tag: string): boolean {
    return tag.startsWith(`${REPOSITORY}:`) && tag.endsWith(`-${this.#kind}`);
  }

  #tag(name: string, digest: string): string {
    const safe = name
      .replace(/[^A-Za-z0-9.]/g, "_")
      .replace(/^\.+/, "")
      .slice(0, NAME_LENGTH);
    return `${safe}-${this.#ending(digest)}`;
  }

  #ending(digest: string): string {
    return `${digest.slice(0, DIGEST_LENGTH)}-${this.#kind}`;
  }
}

/** Of a tag: the digest and the kind. A name has no dash. */
const endingOf = (tag: string): string => tag.split("-").slice(-2).join("-");

/** Whether it is gone. */
async function removeUnlessUsed(engine: DockerEngine, reference: string): Promise<boolean> {
  try {
    await engine.removeImage(reference);
    return true;
  } catch (error) {
    if (!isRefusal(error, 409)) throw error;
    return false;
  }
}

function packRootfs(root: string) {
  const child = spawn("tar", ["--directory", root, "--numeric-owner", "--create", "."], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" },
  });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-500)));
  const ended = new Promise<void>((done, fail) => {
    const broken = (reason: string) => failure("INTERNAL", `Cannot pack the environment at ${root}: ${reason}`);
    child.once("error", (error) => fail(broken(messageOf(error))));
    // When the engine goes away first, its own failure is the one to tell.
    child.once("close", (code, signal) => (code === 0 || signal !== null ? done() : fail(broken(complaint.trim()))));
  });
  ended.catch((error: unknown) => child.stdout.destroy(isClocheError(error) ? error : undefined));
  return { output: child.stdout, ended };
}
