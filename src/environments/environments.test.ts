import { runBuildCommand } from "./build-process.ts";
import type { BuildContext, EnvironmentDefinition } from "./definition.ts";
import { createEnvironments } from "./environments.ts";
import { NO_HOST_FOLDERS } from "./host-folders.ts";
import { machineFileFamily } from "./machine-file.ts";
import { unpackRootfs } from "./rootfs-tar.ts";
import { currentIdMap } from "../base/id-map.ts";
import { silentLog } from "../base/log.ts";
import type { Environments, PruneRequest } from "../contracts/environment.ts";
import { failure } from "../model/error-codes.ts";
import { takeBuildLock } from "../walls/build-lock.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const env = { PATH: process.env["PATH"] };
let cachePath: string;
beforeEach(() => (cachePath = mkdtempSync(join(tmpdir(), "cloche-environments-"))));
afterEach(() => rmSync(cachePath, { recursive: true, force: true }));

/** An environment of one file, packed by a shell. */
function tiny(
  options: { name?: string; digest?: string; script?: string; before?: (context: BuildContext) => Promise<void> } = {},
) {
  const { digest = "a".repeat(64), before = () => Promise.resolve() } = options;
  const definition: EnvironmentDefinition & { builds: number } = {
    name: options.name ?? "tiny:1",
    description: "One file",
    packages: ["hello"],
    builds: 0,
    hostFolders: () => NO_HOST_FOLDERS,
    digest: () => Promise.resolve(digest),
    build: async (context) => {
      definition.builds += 1;
      await before(context);
      const tar = join(context.scratch, "rootfs.tar");
      const script = options.script ?? 'mkdir "$0.d" && echo hi >"$0.d/greeting" && tar -cf "$0" -C "$0.d" .';
      await runBuildCommand({ argv: ["sh", "-c", script, tar], env, signal: context.signal, packages: "none" });
      await unpackRootfs(tar, context, env);
    },
  };
  return definition;
}

const open = (...definitions: EnvironmentDefinition[]) =>
  createEnvironments({ cachePath, idMap: currentIdMap(), log: silentLog, definitions });
/** Locks too: none is left. */
const folders = () => readdirSync(join(cachePath, "environments"));
const prune = async (environments: Environments, inUse: string[] = [], more: Partial<PruneRequest> = {}) =>
  await environments.prune({ inUse: new Set(inUse), dryRun: false, ...more });
const kind = currentIdMap().kind;

describe("an obstacle", () => {
  it("is what the host lacks to build an environment, and none once it is built", async () => {
    const lacking = failure("ENVIRONMENT_BUILD_FAILED", "No range in /etc/subuid");
    const ready = open(tiny());
    expect(await ready.obstacle("tiny:1")).toBeUndefined();
    const blocked = open({ ...tiny(), requireBuildable: () => Promise.reject(lacking) });
    expect(await blocked.obstacle("tiny:1")).toBe(lacking);
    await ready.ensure("tiny:1", {});
    expect(await blocked.obstacle("tiny:1")).toBeUndefined();
  });
});

describe("a family", () => {
  const long = `image:${"long/".repeat(40)}name`;
  /** Its environments are there as long as `gone` is not. */
  function openFamily(state: { gone: boolean }) {
    const digest = () =>
      state.gone ? Promise.reject(failure("ENVIRONMENT_NOT_FOUND", "gone")) : Promise.resolve("b".repeat(64));
    const define = (name: string) => ({ ...tiny(), name, digest });
    const families = [{ prefix: "image:", form: "image:NAME", define }];
    return createEnvironments({ cachePath, idMap: currentIdMap(), log: silentLog, definitions: [tiny()], families });
  }

  it("is listed once built, stale when what it was made from is gone, and pruned; a name may be long", async () => {
    const state = { gone: false };
    const environments = openFamily(state);
    const states = async () => (await environments.list()).map(({ name, state: one }) => [name, one]);
    expect(await states()).toEqual([["tiny:1", "cold"]]);
    const [one, two] = [await environments.ensure(long, {}), await environments.ensure(`${long}r`, {})];
    expect(one.root).not.toBe(two.root);
    expect((await environments.ensure(long, {})).root).toBe(one.root);
    expect(await states()).toEqual([["tiny:1", "cold"], [long, "warm"], [`${long}r`, "warm"]]); // prettier-ignore
    state.gone = true;
    expect((await states())[1]).toEqual([long, "stale"]);
    await expect(environments.ensure(long, {})).rejects.toMatchObject({ code: "ENVIRONMENT_NOT_FOUND" });
    expect((await prune(environments)).removed.map(({ name }) => name)).toEqual([long, `${long}r`]);
    expect(folders()).toEqual([]);
  });

  it("of packed machines is listed as long as there is the file, changed or not; nothing of it is kept", async () => {
    const file = join(cachePath, "one.smolmachine");
    const name = `smolmachine:${file}`;
    const families = [machineFileFamily()];
    const environments = createEnvironments({
      cachePath,
      idMap: currentIdMap(),
      log: silentLog,
      definitions: [],
      families,
    });
    const states = async () => (await environments.list()).map((one) => [one.name, one.state]);
    writeFileSync(file, "packed");
    await environments.ensure(name, {});
    expect(await states()).toEqual([[name, "warm"]]);
    writeFileSync(file, "packed again");
    expect(await states()).toEqual([[name, "stale"]]);
    rmSync(file);
    expect(await states()).toEqual([]);
    expect((await prune(environments)).removed.map((one) => one.name)).toEqual([name]);
  });

  it("is named when a name is unknown, and has none without a name", async () => {
    for (const name of ["other:1", "image:"])
      await expect(openFamily({ gone: false }).ensure(name, {})).rejects.toMatchObject({
        code: "ENVIRONMENT_NOT_FOUND",
        hint: "Use one of: tiny:1, image:NAME",
      });
  });
});

describe("ensure()", () => {
  it("builds once and finds it again, from another instance too", async () => {
    const definition = tiny();
    const { root } = await open(definition).ensure("tiny:1", {});
    expect(readFileSync(join(root, "greeting"), "utf8")).toBe("hi\n");
    expect(existsSync(join(root, "workspace"))).toBe(true);
    expect((await open(definition).ensure("tiny:1", {})).root).toBe(root);
    expect(definition.builds).toBe(1);
    expect(folders()).toEqual([`tiny_1-aaaaaaaaaaaa-${kind}`]);
  });

  it("says which environments there are when the name is unknown", async () => {
    await expect(open(tiny()).ensure("tiny:2", {})).rejects.toMatchObject({
      code: "ENVIRONMENT_NOT_FOUND",
      hint: "Use one of: tiny:1",
    });
  });

  it("gives one build to two that ask at once: the second waits for the first", async () => {
    const secondWaits = deferred();
    const building = deferred();
    const first = tiny({
      before: () => {
        building.resolve();
        return secondWaits.promise;
      },
    });
    const second = tiny();
    const one = open(first).ensure("tiny:1", {});
    await building.promise;
    const two = open(second).ensure("tiny:1", {
      progress: ({ step }) => {
        if (step.startsWith("waiting for another build")) secondWaits.resolve();
      },
    });
    expect((await one).root).toBe((await two).root);
    expect([first.builds, second.builds]).toEqual([1, 0]);
  });

  it("that fails says how to see more of it, with the environment's name", async () => {
    const hint = "See the last lines of its output with `cloche env pull tiny:1 --json`";
    const failing = open(tiny({ script: "echo E: no such package >&2; exit 3" })).ensure("tiny:1", {});
    await expect(failing).rejects.toMatchObject({ code: "ENVIRONMENT_BUILD_FAILED", hint });
    const broken = open(tiny({ before: () => Promise.reject(new Error("broken")) })).ensure("tiny:1", {});
    await expect(broken).rejects.toMatchObject({ message: 'Cannot build environment "tiny:1": broken', hint });
  });

  it("goes on when a builder dies, and clears away what it left", async () => {
    const left = join(cachePath, "environments", `.tmp-tiny_1-${kind}-dead`);
    mkdirSync(join(left, "rootfs"), { recursive: true });
    const lock = join(cachePath, "environments", `.lock-tiny_1-${kind}`);
    const other = spawn("flock", ["--no-fork", lock, "sh", "-c", "echo; exec sleep 600"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(other.stdout, "data");
    const definition = tiny();
    await open(definition).ensure("tiny:1", {
      progress: ({ step }) => step.startsWith("waiting") && other.kill("SIGKILL"),
    });
    expect(other.signalCode ?? (await once(other, "exit"))[1]).toBe("SIGKILL");
    expect(definition.builds).toBe(1);
    expect(folders()).toEqual([`tiny_1-aaaaaaaaaaaa-${kind}`]);
  });

  it("builds again when the record of a build is damaged or its files are gone", async () => {
    const definition = tiny();
    const environments = open(definition);
    const { root } = await environments.ensure("tiny:1", {});
    writeFileSync(join(root, "../environment.json"), '{"name": "tiny:1"');
    expect((await environments.list())[0]?.state).toBe("cold");
    await environments.ensure("tiny:1", {});
    rmSync(root, { recursive: true });
    await environments.ensure("tiny:1", {});
    expect(definition.builds).toBe(3);
    expect(existsSync(join(root, "greeting"))).toBe(true);
  });

  it("leaves nothing behind when a build fails, and says why", async () => {
    const environments = open(
      tiny({ script: "echo 'E: Failed to fetch http://me:pw@mirror/x' >&2; echo 'E: it failed' >&2; exit 3" }),
    );
    await expect(environments.ensure("tiny:1", {})).rejects.toMatchObject({
      code: "ENVIRONMENT_BUILD_FAILED",
      message: "Cannot build the environment: sh: Failed to fetch http://mirror/x",
    });
    expect(folders()).toEqual([]);
    expect((await environments.list())[0]).toMatchObject({ state: "cold", size_bytes: null, digest: null });
  });

  it("tells a full disk from other failures", async () => {
    const environments = open(tiny({ script: "cat /etc/os-release >/dev/full" }));
    await expect(environments.ensure("tiny:1", {})).rejects.toMatchObject({ code: "DISK_FULL" });
    const failing = tiny({ before: () => Promise.reject(Object.assign(new Error("no space"), { code: "ENOSPC" })) });
    await expect(open(failing).ensure("tiny:1", {})).rejects.toMatchObject({ code: "DISK_FULL" });
  });

  it("ends the whole build when it is cancelled", async () => {
    const controller = new AbortController();
    let pid = 0;
    const definition = tiny({
      before: ({ signal }) =>
        runBuildCommand({
          argv: ["sh", "-c", "sh -c 'echo $$ >&2; exec sleep 600'; true"],
          env,
          signal,
          packages: "none",
          onLine: (line) => {
            pid = Number(line);
            controller.abort();
          },
        }),
    });
    const built = open(definition).ensure("tiny:1", { signal: controller.signal });
    await expect(built).rejects.toMatchObject({ code: "CANCELLED" });
    expect(pid).toBeGreaterThan(1);
    // A process closes its files, which is what a build waits for, before it is gone.
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 30_000 });
    expect(folders()).toEqual([]);
  });

  it("stops waiting for another build when it is cancelled", async () => {
    const release = deferred();
    const building = deferred();
    const one = open(
      tiny({
        before: () => {
          building.resolve();
          return release.promise;
        },
      }),
    ).ensure("tiny:1", {});
    await building.promise;
    const controller = new AbortController();
    const two = open(tiny()).ensure("tiny:1", { signal: controller.signal, progress: () => controller.abort() });
    await expect(two).rejects.toMatchObject({ code: "CANCELLED" });
    release.resolve();
    await one;
  });
});

describe("list(), inspect() and prune()", () => {
  it("tell cold, warm and stale apart", async () => {
    const [old, changed] = [open(tiny()), open(tiny({ digest: "b".repeat(64) }))];
    expect((await old.list())[0]).toMatchObject({ name: "tiny:1", state: "cold" });
    await old.ensure("tiny:1", {});
    expect(await old.inspect("tiny:1")).toMatchObject({
      state: "warm",
      packages: ["hello"],
      host_paths: [],
      digest: "a".repeat(64),
    });
    expect((await old.list())[0]?.size_bytes).toBeGreaterThan(0);
    expect((await changed.list())[0]).toMatchObject({ state: "stale", digest: "a".repeat(64) });
    await changed.ensure("tiny:1", {});
    expect((await changed.list())[0]).toMatchObject({ state: "warm", digest: "b".repeat(64) });
  });

  it("removes what is not in use, old builds included", async () => {
    await open(tiny()).ensure("tiny:1", {});
    const environments = open(tiny({ digest: "b".repeat(64) }));
    await environments.ensure("tiny:1", {});
    const used = { name: "tiny:1", reason: "a workspace uses it" };
    expect(await prune(environments, ["tiny:1"])).toEqual({ removed: [], kept: [used, used] });
    expect(folders()).toHaveLength(2);
    mkdirSync(join(cachePath, "environments", `.tmp-tiny_1-${kind}-dead`));
    expect([...(await environments.digests())].sort()).toEqual(["a".repeat(64), "b".repeat(64)]);
    const { removed } = await prune(environments);
    expect(removed.map(({ name, size_bytes }) => [name, size_bytes > 0])).toEqual([
      ["tiny:1", true],
      ["tiny:1", true],
    ]);
    expect(folders()).toEqual([]);
    expect(await environments.digests()).toEqual(new Set());
  });

  it("removes the named ones alone, and refuses a name there is none of before anything goes", async () => {
    const environments = open(tiny(), tiny({ name: "tiny:2" }), tiny({ name: "tiny:3" }));
    for (const name of ["tiny:1", "tiny:2"]) await environments.ensure(name, {});
    const asked = { names: ["tiny:1", "tiny:3"] };
    await expect(prune(environments, [], { names: ["tiny:1", "tiny:4"] })).rejects.toMatchObject({
      code: "ENVIRONMENT_NOT_FOUND",
    });
    expect(folders()).toHaveLength(2);
    const { removed, kept } = await prune(environments, [], asked);
    expect(removed).toEqual([{ name: "tiny:1", size_bytes: expect.any(Number) as number, digest: "a".repeat(64) }]);
    expect(kept).toEqual([{ name: "tiny:3", reason: "it is not built" }]);
    expect(folders()).toEqual([`tiny_2-aaaaaaaaaaaa-${kind}`]);
  });

  it("tells in a dry run what would go, and leaves it", async () => {
    const environments = open(tiny());
    await environments.ensure("tiny:1", {});
    const { removed } = await prune(environments, [], { dryRun: true });
    expect(removed.map(({ name }) => name)).toEqual(["tiny:1"]);
    expect(folders()).toHaveLength(1);
    expect((await prune(environments)).removed).toEqual(removed);
    expect(folders()).toEqual([]);
  });

  it("removes locks that an older version has left, and none that somebody holds", async () => {
    const environments = open(tiny());
    await environments.ensure("tiny:1", {});
    const lockFile = (name: string) => join(cachePath, "environments", `.lock-${name}`);
    writeFileSync(lockFile("old"), "");
    const lock = await takeBuildLock(lockFile("held"), {});
    await prune(environments);
    expect(folders()).toEqual([".lock-held"]);
    await lock.release();
    expect(folders()).toEqual([]);
  });

  it("leave alone what is being built", async () => {
    const definition = tiny({
      before: async () => {
        expect(await prune(environments)).toEqual({ removed: [], kept: [] });
      },
    });
    const environments = open(definition);
    const { root } = await environments.ensure("tiny:1", {});
    expect(existsSync(join(root, "greeting"))).toBe(true);
  });
});

function deferred() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false; // there is no such process
  }
}
