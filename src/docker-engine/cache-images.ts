import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../base/errors.ts";
import type { DockerEngine, Labels } from "./engine.ts";
import { isRefusal } from "./engine-failure.ts";

const ENVIRONMENT = "cloche.environment";
const CACHE = "cloche.cache";
const DIGEST_LENGTH = 12;
const NAME_LENGTH = 60;
const CACHE_ID_LENGTH = 10;

/** An environment of a certain content. */
interface Content {
  readonly name: string;
  readonly digest: string;
}

export interface CacheImagesOptions {
  /** Where the environments are that the images are of. */
  readonly cachePath: string;
  /** How files are owned in that cache. */
  readonly kind: string;
  readonly repository: "cloche/environment" | "cloche/dockerfile";
}

export interface PruneImagesOptions {
  /** Where it is given, no others go. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Everything stays, and what would have gone is told. */
  readonly dryRun?: boolean;
}

/**
 * The images of one cache in an engine, named `REPOSITORY:NAME-DIGEST-KIND-CACHE`. Caches may share an engine, and the same digest may be of other files in each:
 * none uses or removes an image of another. An image without the label of a cache is not ours, and stays.
 */
export class CacheImages {
  readonly repository: string;
  readonly #cachePath: string;
  readonly #kind: string;

  constructor({ cachePath, kind, repository }: CacheImagesOptions) {
    this.repository = repository;
    this.#cachePath = cachePath;
    this.#kind = kind;
  }

  reference(content: Content): string {
    return `${this.repository}:${this.tag(content)}`;
  }

  tag({ name, digest }: Content): string {
    const safe = name
      .replace(/[^A-Za-z0-9.]/g, "_")
      .replace(/^\.+/, "")
      .slice(0, NAME_LENGTH);
    return `${safe}-${this.#ending(digest)}`;
  }

  labels(name: string): Labels {
    return { [ENVIRONMENT]: name, [CACHE]: cacheId(this.#cachePath) };
  }

  /** Removes those of other contents of that name; one that a container stands on stays. */
  async removeOlder(engine: DockerEngine, content: Content): Promise<void> {
    const current = this.reference(content);
    for (const { tags } of await this.#list(engine, this.labels(content.name)))
      for (const tag of tags) if (tag !== current) await removeUnlessUsed(engine, tag);
  }

  /** Removes those whose digest is not among these; one that any container uses stays, also a container of another program. */
  async prune(
    engine: DockerEngine,
    digests: ReadonlySet<string>,
    { only, dryRun = false }: PruneImagesOptions = {},
  ): Promise<{ reference: string; sizeBytes: number }[]> {
    const endings = (some: Iterable<string>): Set<string> => new Set([...some].map((digest) => this.#ending(digest)));
    const [kept, asked] = [endings(digests), only && endings(only)];
    const removed: { reference: string; sizeBytes: number }[] = [];
    const used = dryRun ? await engine.imagesOfContainers() : new Set<string>();
    for (const { id, tags, sizeBytes } of await this.#list(engine, { ...this.labels(""), [ENVIRONMENT]: undefined }))
      for (const reference of tags.filter((tag) => !kept.has(endingOf(tag)) && asked?.has(endingOf(tag)) !== false))
        if (dryRun ? !used.has(id) : await removeUnlessUsed(engine, reference)) removed.push({ reference, sizeBytes });
    return removed;
  }

  /** SECURITY: an image that was made from one of ours has its labels too, and is somebody else's: the tag has to be ours as well (G-21). */
  async #list(engine: DockerEngine, labels: Readonly<Record<string, string | undefined>>) {
    const ending = `-${this.#kind}-${cacheId(this.#cachePath)}`;
    return (await engine.listImages(labels)).map(({ Id, RepoTags, Size }) => ({
      id: Id,
      tags: (RepoTags ?? []).filter((tag) => tag.startsWith(`${this.repository}:`) && tag.endsWith(ending)),
      sizeBytes: Size,
    }));
  }

  #ending(digest: string): string {
    return `${digest.slice(0, DIGEST_LENGTH)}-${this.#kind}-${cacheId(this.#cachePath)}`;
  }
}

/** Of a tag: the digest, the kind and the cache. A name has no dash. */
const endingOf = (tag: string): string => tag.split("-").slice(-3).join("-");

/** The same for every path that leads to the cache. */
const cacheId = (path: string): string =>
  createHash("sha256").update(realPath(path)).digest("hex").slice(0, CACHE_ID_LENGTH);

/** Also of a folder that is not made yet. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    return join(realPath(dirname(path)), basename(path));
  }
}

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
