import { existsSync, mkdirSync, readdirSync, renameSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { PushCommand } from "../../policy/git/push-commands.ts";
import { isDeletion } from "../../policy/git/push-commands.ts";
import type { HostGit } from "./host-git.ts";
import type { Upstream } from "./upstream.ts";
import { arePacksWhole } from "./whole-packs.ts";

/** What is taken over of an upstream: branches and tags, and nothing that a forge keeps beside them. */
const TAKEN = /^refs\/(heads|tags)\//;
const REFSPECS = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
/** How long the name of the main branch is taken as it was. */
const HEAD_MS = 60_000;
/** More are made fewer. */
const MAX_PACKS = 20;
/** What git says when it is the mirror that is broken, and not the upstream. */
const BROKEN =
  /\.lock'|bad config|corrupt|loose object|bad object|missing blob|missing tree|missing commit|bad packed object|packfile .* (cannot|does not|is)|unable to read|not a git repository|did not send all necessary|inflate|index file|bad signature|unresolved deltas|unable to (open|mmap|map)/i;

export interface MirrorRef {
  readonly id: string;
  readonly ref: string;
}

/** Upstream and mirror do not agree, and cannot be made to. */
export class UpstreamUnavailable extends Error {}

/**
 * A bare repository with what the upstream of one repository has. Made in a folder of its own and renamed when it is whole. It is a copy: whatever is wrong with
 * it, it is thrown away and made again.
 */
export class Mirror {
  readonly path: string;
  readonly #git: HostGit;
  readonly #upstream: Upstream;
  readonly #log: Log;
  readonly #allowStale: boolean;
  /** One at a time: what refreshes it and what a push writes. */
  #turn: Promise<unknown> = Promise.resolve();
  /** A refresh that has not begun yet, for all who ask meanwhile. */
  #next: Promise<readonly MirrorRef[]> | undefined;
  #headAt = 0;
  /** Its packs as they were when it was known to be whole. */
  #packs: string | undefined;
  #isBroken = false;

  constructor(
    git: HostGit,
    upstream: Upstream,
    log: Log,
    place: { folder: string; name: string; allowStale: boolean },
  ) {
    this.#git = git;
    this.#upstream = upstream;
    this.#log = log;
    this.path = join(place.folder, `${place.name}.git`);
    this.#allowStale = place.allowStale;
  }

  /**
   * Has it show what the upstream has, as it was asked after this was called, and gives its refs. Throws `UpstreamUnavailable` unless an old state may be
   * served.
   */
  async refresh(): Promise<readonly MirrorRef[]> {
    this.#next ??= this.inTurn(async () => {
      this.#next = undefined;
      return await this.#refresh();
    });
    return await this.#next;
  }

  async inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const own = this.#turn.then(work);
    this.#turn = own.catch(() => undefined); // its own caller is told
    return await own;
  }

  /** It gave something wrong: the next who asks gets a new one. */
  distrust(): void {
    this.#isBroken = true;
  }

  /** Takes over what has gone to the upstream: the objects of a quarantine, and the refs. The caller has its turn. Never rejects. */
  async accept(objects: string, commands: readonly PushCommand[]): Promise<void> {
    try {
      const from = join(objects, "pack");
      // The pack before its index, by which it is found.
      for (const name of packsFirst(readdirSync(from)))
        renameSync(join(from, name), join(this.path, "objects", "pack", name));
      const input = commands
        .map((one) => (isDeletion(one) ? `delete ${one.ref}\n` : `update ${one.ref} ${one.new}\n`))
        .join("");
      await this.#git.run(["update-ref", "--stdin"], { repository: this.path, input });
      await this.#tidy();
    } catch (error) {
      this.#log.warn("a mirror cannot take over a push", { path: this.path, reason: messageOf(error) });
      this.distrust();
    }
  }

  async #refresh(): Promise<readonly MirrorRef[]> {
    if (this.#mustBeMade() || !(await this.#isTakenOverWhole())) return await this.#make();
    const [{ problem, refs }, own] = await Promise.all([
      this.#askUpstream(),
      this.#refs(),
      Date.now() - this.#headAt > HEAD_MS ? this.#followHead(this.path) : undefined,
    ]);
    if (problem !== undefined && !this.#allowStale) throw new UpstreamUnavailable(problem);
    if (problem !== undefined)
      this.#log.warn("an upstream cannot be reached, and its mirror is served as it is", { problem });
    else if (this.#packs === undefined || !areSame(refs, own)) return await this.#fetchNew();
    return own;
  }

  async #fetchNew(): Promise<readonly MirrorRef[]> {
    const { problem, said } = await this.#fetch(this.path);
    await this.#tidy();
    const refs = await this.#refs();
    if ((problem !== undefined && BROKEN.test(said)) || refs.some(({ ref }) => !TAKEN.test(ref))) {
      this.#log.warn("a mirror is made again", { path: this.path, said: said.slice(-500) });
      return await this.#make();
    }
    if (problem !== undefined && !this.#allowStale) throw new UpstreamUnavailable(problem);
    return refs;
  }

  /** What the upstream has. That is less work than a fetch, which most often brings nothing. */
  async #askUpstream(): Promise<{ problem: string | undefined; refs: readonly MirrorRef[] }> {
    const words = (url: string) => ["ls-remote", "--heads", "--tags", "--refs", "--end-of-options", url];
    const { problem, stdout } = await this.#upstream.run("fetch", words, { repository: null });
    return { problem, refs: readRefs(stdout) };
  }

  async #refs(): Promise<readonly MirrorRef[]> {
    const words = ["for-each-ref", "--format=%(objectname)\t%(refname)"];
    return readRefs((await this.#git.run(words, { repository: this.path })).stdout);
  }

  /** Each fetch and each push makes a pack; git is slow with many. */
  async #tidy(): Promise<void> {
    const folder = join(this.path, "objects", "pack");
    if (readdirSync(folder).filter((name) => name.endsWith(".pack")).length > MAX_PACKS)
      await this.#git.run(["repack", "-d", "-n", "-q", "--geometric=2"], { repository: this.path });
    this.#packs = this.#packsNow();
  }

  /** SECURITY: packs that have changed by another hand than the gate's are not served (G-85) */
  #mustBeMade(): boolean {
    if (this.#isBroken || !existsSync(join(this.path, "HEAD"))) return true;
    return this.#packs !== undefined && this.#packs !== this.#packsNow();
  }

  /** SECURITY: of packs that a gate before this one has left nobody knows what was done to them meanwhile (G-85) */
  async #isTakenOverWhole(): Promise<boolean> {
    if (this.#packs !== undefined || (await arePacksWhole(join(this.path, "objects", "pack")))) return true;
    this.#log.warn("a mirror has a pack that is broken, and is made again", { path: this.path });
    return false;
  }

  async #make(): Promise<readonly MirrorRef[]> {
    const fresh = `${this.path}.new`;
    await rm(fresh, { recursive: true, force: true });
    mkdirSync(fresh, { recursive: true, mode: 0o700 });
    const made = await this.#git.run(["init", "--quiet", "--bare", "--template=", "--initial-branch=main", fresh], {
      repository: null,
    });
    if (made.code !== 0) throw new UpstreamUnavailable(`the mirror cannot be made: ${made.said.trim().slice(-300)}`);
    const { problem } = await this.#fetch(fresh);
    if (problem !== undefined) {
      await rm(fresh, { recursive: true, force: true });
      throw new UpstreamUnavailable(problem);
    }
    await this.#followHead(fresh);
    await rm(this.path, { recursive: true, force: true });
    renameSync(fresh, this.path);
    this.#isBroken = false;
    this.#packs = this.#packsNow();
    return await this.#refs();
  }

  async #fetch(repository: string): Promise<{ problem: string | undefined; said: string }> {
    const words = (url: string) => [
      "fetch",
      "--quiet",
      "--prune",
      "--force",
      "--no-tags",
      "--no-write-fetch-head",
      "--no-auto-maintenance",
      "--no-recurse-submodules",
      "--end-of-options",
      url,
      ...REFSPECS,
    ];
    return await this.#upstream.run("fetch", words, { repository });
  }

  /** What a clone checks out. */
  async #followHead(repository: string): Promise<void> {
    const words = (url: string) => ["ls-remote", "--symref", "--end-of-options", url, "HEAD"];
    const { problem, stdout } = await this.#upstream.run("fetch", words, { repository });
    const head = /^ref: (refs\/heads\/\S+)\tHEAD$/m.exec(stdout.toString())?.[1];
    if (problem !== undefined || head === undefined) return;
    this.#headAt = Date.now();
    await this.#git.run(["symbolic-ref", "HEAD", head], { repository });
  }

  #packsNow(): string {
    try {
      const folder = join(this.path, "objects", "pack");
      return readdirSync(folder)
        .sort()
        .map((name) => {
          const { size, mtimeMs, ino } = statSync(join(folder, name));
          return `${name} ${size} ${mtimeMs} ${ino}`;
        })
        .join("\n");
    } catch {
      return "";
    }
  }
}

/** The index of a pack comes after all else of it. */
export const packsFirst = (names: readonly string[]): string[] =>
  [...names].sort((one, other) => Number(one.endsWith(".idx")) - Number(other.endsWith(".idx")));

/** One in a line: its id, a tab, its name. */
const readRefs = (text: Buffer): MirrorRef[] =>
  text
    .toString()
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [{ id: line.slice(0, 40), ref: line.slice(41) }]));

function areSame(one: readonly MirrorRef[], other: readonly MirrorRef[]): boolean {
  const ids = new Map(other.map(({ id, ref }) => [ref, id]));
  return one.length === ids.size && one.every(({ id, ref }) => ids.get(ref) === id);
}
