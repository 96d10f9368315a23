import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeTree } from "../../src/base/remove-tree.ts";
import { takeBuildLock } from "../../src/walls/build-lock.ts";
import { useDockerEngine } from "../helpers/docker-engine.ts";
import { Installation } from "../helpers/installation.ts";
import { makeOwnCache, restoreEnvironments } from "../helpers/own-cache.ts";
import { SmolvmStandIn } from "../helpers/smolvm-stand-in.ts";

const sh = async (at: Installation, id: string, command: string): Promise<string> =>
  (await at.sdk.execWorkspace(id, { command })).stdout.trim();
const namesIn = (folder: string): string[] => readdirSync(folder).filter((name) => !name.startsWith(".lock-"));

/** Two installations that share one cache, which nobody else has. */
class Pair implements AsyncDisposable {
  readonly cache = makeOwnCache(mkdtempSync(join(tmpdir(), "cl-pc-")));
  readonly one: Installation;
  readonly other: Installation;

  constructor(env: NodeJS.ProcessEnv) {
    const own = { ...env, CLOCHE_CACHE: this.cache };
    this.one = new Installation("pa", own);
    this.other = new Installation("pb", own);
  }

  /** What the first one's `env prune` has removed of a backend, by its name. */
  async prune(backend: string): Promise<string[]> {
    const dry = await this.one.sdk.pruneEnvironments({ dry_run: true });
    const pruning = await this.one.sdk.pruneEnvironments();
    restoreEnvironments(this.cache);
    // A dry run tells the same, and has left it all for this one.
    expect(dry).toEqual({ ...pruning, dry_run: true });
    const { backends, freed_bytes } = pruning;
    const pruned = backends.find(({ name }) => name === backend) ?? { removed: [], problem: null };
    expect(pruned.problem).toBe(null);
    const sum = backends.flatMap(({ removed }) => removed).reduce((bytes, one) => bytes + one.size_bytes, 0);
    expect(freed_bytes).toBeGreaterThanOrEqual(sum);
    return pruned.removed.map(({ name }) => name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.other[Symbol.asyncDispose]();
    await this.one[Symbol.asyncDispose]();
    await removeTree(this.cache);
  }
}

describe("env prune and what the backend vm keeps", { timeout: 300_000 }, () => {
  const VM = { environment: "debian:12", backend: "vm" } as const;
  let pair: Pair;
  beforeAll(() => {
    pair = new Pair({});
  });
  afterAll(() => pair[Symbol.asyncDispose]());
  const kinds = ["templates", "environments", "seeds", "boot", "accelerators", "disks"] as const;
  const WORDS = {
    templates: "frozen machine of an older version",
    environments: "disk of an environment, for machines",
    seeds: "disk of a project, for machines",
    boot: "what machines of another version boot from",
    accelerators: "answer whether machines boot",
    disks: "empty disk of an older form",
  } as const;
  const kept = (kind: (typeof kinds)[number]): string[] => namesIn(join(pair.cache, "vm", kind));

  it("leaves what a machine runs on and what a live snapshot needs, and removes what older versions have left", async () => {
    const { one, cache } = pair;
    const project = one.path("project");
    mkdirSync(project);
    writeFileSync(join(project, "file"), "of the project\n");
    const { workspace_id: id } = await one.sdk.createWorkspace({ ...VM, seed_path: project });
    await one.sdk.createSnapshot(id, "live", { live: true });
    const needed = Object.fromEntries(kinds.map((kind) => [kind, kept(kind)]));
    expect(needed).toMatchObject({ templates: [expect.any(String)], seeds: [expect.any(String)] });
    // One of each kind that nobody needs, what somebody who died had begun, and what is being made right now.
    for (const kind of kinds) {
      const isFolder = kind === "templates" || kind === "boot";
      const old = join(cache, "vm", kind, "old-shifted");
      if (isFolder) mkdirSync(old);
      writeFileSync(isFolder ? join(old, "memory") : old, "x".repeat(5000));
    }
    mkdirSync(join(cache, "vm/templates/.tmp-dead-0a1b2c3d"));
    mkdirSync(join(cache, "vm/templates/.tmp-building-0a1b2c3d"));
    writeFileSync(join(cache, "vm/seeds/building"), "");
    const locks = await Promise.all(
      ["templates", "seeds"].map((kind) => takeBuildLock(join(cache, "vm", kind, ".lock-building"), {})),
    );
    const removed = await pair.prune("vm");
    // Whoever makes a template needs an environment for it.
    const other = kinds.filter((kind) => kind !== "environments");
    expect(removed).toEqual(expect.arrayContaining(other.map((kind) => `${WORDS[kind]} (old-shifted)`)));
    expect(kept("environments")).toContain("old-shifted");
    expect(kept("templates")).toEqual([".tmp-building-0a1b2c3d", ...(needed["templates"] ?? [])]);
    expect(kept("seeds")).toContain("building");
    for (const lock of locks) await lock.release();
    expect(await pair.prune("vm")).toEqual([`${WORDS.environments} (old-shifted)`, `${WORDS.seeds} (building)`]);
    for (const kind of ["templates", "environments", "seeds", "boot", "disks"] as const)
      expect(kept(kind)).toEqual(needed[kind]);
    expect(await sh(one, id, "cat file")).toBe("of the project");
    await one.sdk.resetWorkspace(id, { snapshot: "live" });
    expect(await sh(one, id, "cat file")).toBe("of the project");
    await one.sdk.deleteWorkspace(id);
  });

  it("leaves what machines and live snapshots of another home need, and takes it when they are gone", async () => {
    const { one, other } = pair;
    const { workspace_id: id } = await other.sdk.createWorkspace(VM);
    const { backends: ofHost } = await one.sdk.pruneEnvironments({ environments: ["host"] });
    expect(ofHost).toEqual([]);
    restoreEnvironments(pair.cache);
    expect((await pair.prune("vm")).filter((name) => /frozen|environment/.test(name))).toEqual([]);
    expect(await sh(other, id, "echo runs on")).toBe("runs on");
    await other.sdk.createSnapshot(id, "live", { live: true });
    await other.sdk.stopWorkspace(id);
    await other.sdk.stopDaemon(); // and with it the machine that waits
    expect((await pair.prune("vm")).filter((name) => /frozen|environment/.test(name))).toEqual([]);
    await other.sdk.resetWorkspace(id, { snapshot: "live" });
    expect(await sh(other, id, "echo as it was")).toBe("as it was");
    await other.sdk.deleteWorkspace(id);
    await other.sdk.stopDaemon();
    expect((await pair.prune("vm")).sort()).toEqual([
      expect.stringMatching(/^disk of an environment, for machines \([0-9a-f]{12}\)$/),
      expect.stringMatching(/^frozen machine of debian:12, \d+ MiB$/),
    ]);
    expect([kept("templates"), kept("environments")]).toEqual([[], []]);
    expect(readdirSync(join(pair.cache, "vm/templates"))).toEqual([]); // nor locks
    // All of it can be made again, also by a daemon that had it before.
    const { workspace_id: next } = await one.sdk.createWorkspace(VM);
    expect(await sh(one, next, "echo again")).toBe("again");
    await one.sdk.deleteWorkspace(next);
  });
});

it("a machine whose template or project another home removes at that very moment is started all the same", async () => {
  const bin = mkdtempSync(join(tmpdir(), "cl-pp-"));
  const cache = makeOwnCache(mkdtempSync(join(tmpdir(), "cl-pc-")));
  // The first copy of a disk after the file was put there finds that nothing is left to copy.
  const armed = join(bin, "armed");
  const script = `#!/bin/sh\n[ ! -e ${armed} ] || { rm -r ${cache}/vm/$(cat ${armed})/*; rm ${armed}; }\nexec /usr/bin/cp "$@"\n`;
  writeFileSync(join(bin, "cp"), script, { mode: 0o755 });
  const at = new Installation("pp", { CLOCHE_CACHE: cache, PATH: `${bin}:${process.env["PATH"] ?? ""}` });
  const seed_path = at.path("project");
  mkdirSync(seed_path);
  writeFileSync(join(seed_path, "file"), "there\n");
  const create = async () =>
    (await at.sdk.createWorkspace({ environment: "debian:12", backend: "vm", seed_path })).workspace_id;
  try {
    await create();
    for (const kind of ["templates", "seeds"]) {
      await at.sdk.stopDaemon(); // and with it the machine that waits
      writeFileSync(armed, kind);
      expect(await sh(at, await create(), "cat file"), kind).toBe("there");
      expect(existsSync(armed)).toBe(false);
    }
  } finally {
    await at[Symbol.asyncDispose]();
    for (const folder of [bin, cache]) await removeTree(folder);
  }
}, 300_000);

describe("env prune and the images of the backend docker", () => {
  const docker = useDockerEngine();

  it("leaves one that a container of any home stands on, stopped or not; the next workspace has a removed one made again", async () => {
    const pair = new Pair({ ...docker.engine.env, CLOCHE_BACKEND: "docker" });
    try {
      const { one, other } = pair;
      const create = async (at: Installation) => (await at.sdk.createWorkspace({ environment: "host" })).workspace_id;
      const images = () => docker.engine.docker("images", "-q", "cloche/environment");
      const id = await create(one);
      expect(await pair.prune("docker")).toEqual([]);
      await one.sdk.deleteWorkspace(id);
      const theirs = await create(other);
      await other.sdk.stopWorkspace(theirs);
      expect(await pair.prune("docker")).toEqual([]);
      expect(await images()).not.toBe("");
      await other.sdk.startWorkspace(theirs);
      expect(await sh(other, theirs, "echo there")).toBe("there");
      await other.sdk.deleteWorkspace(theirs);
      await one.sdk.pruneEnvironments({ environments: ["debian:12"] });
      restoreEnvironments(pair.cache);
      expect(await images()).not.toBe("");
      expect(await pair.prune("docker")).toEqual([expect.stringMatching(/^docker image cloche\/environment:host-/)]);
      expect(await images()).toBe("");
      expect(await sh(one, await create(one), "echo again")).toBe("again");
    } finally {
      await pair[Symbol.asyncDispose]();
    }
    expect(await docker.engine.leftovers()).toEqual([]);
  });
});

describe("env prune and the images of another cache in the same engine", () => {
  const docker = useDockerEngine();

  it("leaves them, and those of no cache, also while nobody stands on them", async () => {
    const env = { ...docker.engine.env, CLOCHE_BACKEND: "docker" };
    const [mine, theirs] = [new Pair(env), new Pair(env)];
    const images = async () =>
      (await docker.engine.docker("images", "--format", "{{.Repository}}:{{.Tag}}", "cloche/environment"))
        .split("\n")
        .filter(Boolean)
        .sort();
    try {
      for (const { one } of [mine, theirs]) {
        const { workspace_id: id } = await one.sdk.createWorkspace({ environment: "host" });
        await one.sdk.deleteWorkspace(id);
      }
      const both = await images();
      expect(both).toHaveLength(2);
      // Of a version that did not say whose it was.
      const old = "cloche/environment:host-0123456789ab-shifted";
      await docker.engine.docker(
        "build",
        "--quiet",
        "--tag",
        old,
        "--label",
        "cloche.environment=host",
        emptyImage(mine),
      );
      const removed = await mine.prune("docker");
      expect(removed).toHaveLength(1);
      const left = [...both.filter((name) => !removed.includes(`docker image ${name}`)), old].sort();
      expect(await images()).toEqual(left);
      expect(left).toHaveLength(2);
      expect(await mine.prune("docker")).toEqual([]);
      expect(await theirs.prune("docker")).toHaveLength(1);
      expect(await images()).toEqual([old]);
    } finally {
      for (const pair of [mine, theirs]) await pair[Symbol.asyncDispose]();
    }
    expect(await docker.engine.leftovers()).toEqual([]);
  });
});

/** A folder with a Dockerfile of nothing. */
function emptyImage({ one }: Pair): string {
  const folder = one.path("empty");
  mkdirSync(folder);
  writeFileSync(join(folder, "Dockerfile"), "FROM scratch\nCOPY Dockerfile /\n");
  return folder;
}

describe("env prune and the copies of the backend smolmachines", () => {
  it("leaves one that a machine of any home was made from, and all of them when smolvm does not tell", async () => {
    const smolvm = new SmolvmStandIn();
    const pair = new Pair({ ...smolvm.env, CLOCHE_BACKEND: "smolmachines" });
    try {
      const { one, other, cache } = pair;
      const { workspace_id: theirs } = await other.sdk.createWorkspace({ environment: "debian:12" });
      const [digest] = namesIn(join(cache, "smolmachines"));
      mkdirSync(join(cache, "smolmachines/0000"));
      mkdirSync(join(cache, "smolmachines/4194304-dead.tmp")); // no process has that number
      smolvm.misbehave({ fail: { ls: "the database is locked" } });
      const { backends } = await one.sdk.pruneEnvironments();
      expect(backends).toContainEqual({
        name: "smolmachines",
        removed: [],
        problem: expect.stringContaining("database is locked") as string,
      });
      const told = await one.cli(["env", "prune"]);
      expect(told.stdout).toMatch(/^Backend smolmachines could not clean up: .*database is locked\nFreed 0 B\n$/);
      smolvm.misbehave({});
      restoreEnvironments(cache);
      await other.sdk.stopWorkspace(theirs);
      expect(await pair.prune("smolmachines")).toEqual(["smolmachines/0000"]);
      expect(namesIn(join(cache, "smolmachines"))).toEqual([digest]);
      await other.sdk.startWorkspace(theirs);
      expect(await sh(other, theirs, "echo there")).toBe("there");
      await other.sdk.deleteWorkspace(theirs);
      expect(await pair.prune("smolmachines")).toEqual([`smolmachines/${digest}`]);
      expect(await one.sdk.run({ environment: "debian:12", command: "echo again" })).toMatchObject({
        stdout: "again\n",
      });
    } finally {
      await pair[Symbol.asyncDispose]();
      await smolvm.remove();
    }
  });
});
