import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { placesFrom } from "../../src/base/paths.ts";
import { type Installation, eventually, processesNaming, withInstallation } from "../helpers/installation.ts";
import { killDaemon } from "../helpers/running-daemon.ts";

const VM = { environment: "debian:12", backend: "vm" } as const;
/** The cache that the tests share: its kernel and its environments are used again, its templates are not. */
const SHARED = join(placesFrom(process.env).cache);

const emulator = (at: Installation, id: string, generation = 1): number =>
  Number(readFileSync(join(at.home, "workspaces", id, `g${generation}/machine/wall.pid`), "utf8").split(" ")[0]);
const spares = (at: Installation, kind = "spare-machines"): string => join(at.home, kind);
const sparePids = (at: Installation, kind?: string): number[] => {
  try {
    return readdirSync(spares(at, kind)).map((name) =>
      Number(readFileSync(join(spares(at, kind), name, "machine/wall.pid"), "utf8").split(" ")[0]),
    );
  } catch {
    return []; // one is being made, or ends
  }
};
const sparePid = (at: Installation, kind?: string): number | undefined => sparePids(at, kind)[0];
const isRunning = (pid: number): boolean => existsSync(`/proc/${pid}`);
const sh = async (at: Installation, id: string, command: string): Promise<string> =>
  (await at.sdk.execWorkspace(id, { command })).stdout.trim();

/** A cache of its own with the environment and the kernel of the shared one. */
function ownCache(at: Installation): string {
  const cache = at.path("cache");
  mkdirSync(join(cache, "vm"), { recursive: true });
  symlinkSync(join(SHARED, "environments"), join(cache, "environments"));
  for (const name of ["kernels", "boot", "disks", "environments", "accelerators"])
    if (existsSync(join(SHARED, "vm", name))) symlinkSync(join(SHARED, "vm", name), join(cache, "vm", name));
  return cache;
}

describe("a project", () => {
  it("with a name that cannot be packed is refused with that name, and one byte less is fine", async () => {
    await withInstallation(async (at) => {
      const seed = at.path("seed");
      mkdirSync(seed);
      writeFileSync(join(seed, "x".repeat(254)), "fine");
      const { workspace_id: id } = await at.sdk.createWorkspace({ ...VM, seed_path: seed });
      expect(await sh(at, id, "cat x*")).toBe("fine");
      writeFileSync(join(seed, "y".repeat(255)), "too long");
      await expect(at.sdk.createWorkspace({ ...VM, seed_path: seed })).rejects.toMatchObject({
        code: "SEED_INVALID",
        message: expect.stringContaining("yyy") as string,
      });
    });
  }, 300_000);
});

describe("live snapshots", () => {
  it("keep processes and memory; a reset and a fork run on from there, each with an identity of its own", async () => {
    await withInstallation(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace(VM);
      await sh(
        at,
        id,
        "echo before > f; (while :; do date +%s%N > /tmp/next; mv /tmp/next /tmp/tick; sleep 0.05; done) >/dev/null 2>&1 & echo $! > /tmp/pid",
      );
      const { snapshot } = await at.sdk.createSnapshot(id, "up", { live: true });
      expect(snapshot).toMatchObject({ kind: "named", live: true });
      const alive =
        'kill -0 $(cat /tmp/pid) && a=$(cat /tmp/tick); while [ "$a" = "$(cat /tmp/tick)" ]; do sleep 0.1; done; echo ticks';
      expect(await sh(at, id, `echo after > f; ${alive}`)).toBe("ticks");
      await at.sdk.resetWorkspace(id, { snapshot: "up" });
      expect(await sh(at, id, `cat f; ${alive}`)).toBe("before\nticks");
      const fork = await at.sdk.forkWorkspace(id, { snapshot: "up" });
      expect(await sh(at, fork.workspace_id, `cat f; hostname; ${alive}`)).toBe(`before\n${fork.workspace_id}\nticks`);
      const random = "cat /etc/machine-id; head -c 16 /dev/urandom | od -An -tx1";
      expect(await sh(at, id, random)).not.toBe(await sh(at, fork.workspace_id, random));
      // A stop ends the processes and keeps the files; so does a snapshot without them.
      await at.sdk.stopWorkspace(fork.workspace_id);
      await at.sdk.startWorkspace(fork.workspace_id);
      expect(await sh(at, fork.workspace_id, "cat f; cat /tmp/pid 2>/dev/null")).toBe("before");
      await at.sdk.createSnapshot(id, "files");
      await at.sdk.resetWorkspace(id, { snapshot: "files" });
      expect(await sh(at, id, "cat f; cat /tmp/pid 2>/dev/null")).toBe("before");
    });
  }, 300_000);

  it("are refused, before anything is touched, by a backend that has none and for a machine that does not run", async () => {
    await withInstallation(async (at) => {
      const { workspace_id: other } = await at.sdk.createWorkspace({ backend: "container" });
      await expect(at.sdk.createSnapshot(other, "up", { live: true })).rejects.toMatchObject({ code: "NOT_SUPPORTED" });
      expect((await at.sdk.listSnapshots(other)).count).toBe(1);
      const { workspace_id: id } = await at.sdk.createWorkspace(VM);
      expect((await at.sdk.stopWorkspace(id)).execution_mode).toBe("guest_serial");
      await expect(at.sdk.createSnapshot(id, "up", { live: true })).rejects.toMatchObject({
        code: "WORKSPACE_NOT_RUNNING",
        hint: `Start it with \`cloche workspace start ${id}\``,
      });
      expect(existsSync(join(at.home, "layers")) ? readdirSync(join(at.home, "layers")) : []).toEqual([]);
    });
  }, 300_000);
});

describe("secrets in a live snapshot", () => {
  it("G-17 are redacted, and usable, also when the daemon that knew them is gone", async () => {
    await withInstallation(async (at) => {
      const value = "tok-live-93b1c7-secret";
      const secrets = [{ name: "TOKEN", value }];
      const { workspace_id: id } = await at.sdk.createWorkspace({ ...VM, secrets });
      const teller =
        '(while :; do [ -e go ] && echo "$T" > told.tmp && mv told.tmp told; sleep 0.1; done) > /dev/null 2>&1 &';
      await at.sdk.execWorkspace(id, { command: teller, secret_env: { TOKEN: "T" } });
      await at.sdk.createSnapshot(id, "up", { live: true });
      // While it is stopped, its secrets are in the daemon only.
      await at.sdk.stopWorkspace(id);
      process.kill((await at.sdk.daemonStatus()).pid ?? 0, "SIGKILL");
      await at.sdk.resetWorkspace(id, { snapshot: "up" });
      const { workspace_id: fork } = await at.sdk.forkWorkspace(id, { snapshot: "up" });
      for (const one of [id, fork]) {
        expect(await sh(at, one, "touch go; while ! [ -e told ]; do sleep 0.1; done; cat told")).toBe("[REDACTED]");
        const used = { command: 'echo "<$T>"', secret_env: { TOKEN: "T" } };
        expect((await at.sdk.execWorkspace(one, used)).stdout).toBe("<[REDACTED]>\n");
      }
      await at.sdk.stopWorkspace(id);
      await at.sdk.startWorkspace(id);
      expect(await sh(at, id, "cat told")).toBe("[REDACTED]");
    });
  });
});

describe("a machine that waits", () => {
  it("is taken by the next workspace, whose project, name and identity it has from then on", async () => {
    await withInstallation(async (at) => {
      const project = at.path("project");
      mkdirSync(project);
      writeFileSync(join(project, "file"), "of the project\n");
      const ids: string[] = [(await at.sdk.createWorkspace(VM)).workspace_id];
      await eventually(() => expect(sparePid(at)).toBeDefined(), 30);
      const waiting = sparePids(at);
      ids.push((await at.sdk.createWorkspace({ ...VM, seed_path: project })).workspace_id);
      expect(waiting).toContain(emulator(at, ids.at(-1) ?? ""));
      const taken = ids.at(-1) ?? "";
      expect(await sh(at, taken, "cat file; hostname")).toBe(`of the project\n${taken}`);
      expect((await at.sdk.diffWorkspace(taken)).changed).toBe(false);
      const identities = await Promise.all(
        ids.map((id) => sh(at, id, "cat /etc/machine-id /proc/sys/kernel/random/uuid")),
      );
      expect(new Set(identities).size).toBe(ids.length);
      expect(Math.abs(Number(await sh(at, taken, "date +%s")) - Date.now() / 1000)).toBeLessThan(60);
      for (const id of ids) await at.sdk.deleteWorkspace(id);
    });
  }, 300_000);

  it("is not the only one where several workspaces came at once, and each is another sandbox", async () => {
    await withInstallation(async (at) => {
      const two = async (): Promise<string[]> =>
        (await Promise.all([VM, VM].map((how) => at.sdk.createWorkspace(how)))).map(({ workspace_id: id }) => id);
      const ids = await two();
      await eventually(() => expect(sparePids(at)).toHaveLength(2), 60);
      const waiting = sparePids(at);
      const taken = await two();
      expect(new Set(taken.map((id) => emulator(at, id)))).toEqual(new Set(waiting));
      const identity = "cat /etc/machine-id /proc/sys/kernel/random/uuid; hostname";
      const identities = await Promise.all([...ids, ...taken].map((id) => sh(at, id, identity)));
      expect(new Set(identities.flatMap((text) => text.split("\n"))).size).toBe(12);
      for (const id of [...ids, ...taken]) await at.sdk.deleteWorkspace(id);
    });
  }, 120_000);

  it("goes on from a live snapshot in a copy that was made before, and ends with whoever could reset to it", async () => {
    await withInstallation(async (at) => {
      const copy = () => sparePid(at, "spare-copies");
      const { workspace_id: id } = await at.sdk.createWorkspace(VM);
      await sh(at, id, "echo before > f; sleep 1000 > /dev/null 2>&1 & echo $! > /tmp/pid");
      const first = await sh(at, id, "cat /etc/machine-id");
      await at.sdk.createSnapshot(id, "up", { live: true });
      let generation = 1;
      await eventually(async () => {
        const waiting = copy();
        expect(waiting).toBeDefined();
        await sh(at, id, "echo after > f");
        await at.sdk.resetWorkspace(id, { snapshot: "up" });
        expect(emulator(at, id, ++generation)).toBe(waiting);
      }, 60);
      expect(await sh(at, id, "cat f; kill -0 $(cat /tmp/pid) && hostname")).toBe(`before\n${id}`);
      expect(await sh(at, id, "cat /etc/machine-id")).not.toBe(first);
      expect(Math.abs(Number(await sh(at, id, "date +%s")) - Date.now() / 1000)).toBeLessThan(60);
      await eventually(() => expect(copy()).toBeDefined(), 30);
      const last = copy() ?? 0;
      await at.sdk.deleteWorkspace(id);
      expect(readdirSync(spares(at, "spare-copies"))).toEqual([]);
      await eventually(() => expect([last, isRunning(last)]).toEqual([last, false]));
    });
  }, 300_000);

  it.each([
    ["a new one", "spare-machines"],
    ["a copy of a live snapshot", "spare-copies"],
  ])(
    "ends with its daemon, and that of a daemon that was killed with the next: %s",
    async (_what, kind) => {
      await withInstallation(async (at) => {
        const { workspace_id: id } = await at.sdk.createWorkspace(VM);
        const ofSnapshot = kind === "spare-copies";
        if (ofSnapshot) await at.sdk.createSnapshot(id, "up", { live: true });
        const waiting = async (): Promise<number> => {
          await eventually(() => expect(sparePid(at, kind)).toBeDefined(), 30);
          return sparePid(at, kind) ?? 0;
        };
        const left = await waiting();
        const [folder = ""] = readdirSync(spares(at, kind));
        await killDaemon(at);
        expect(await sh(at, id, "echo goes on")).toBe("goes on");
        await eventually(() =>
          expect([isRunning(left), existsSync(join(spares(at, kind), folder))]).toEqual([false, false]),
        );
        if (ofSnapshot) await at.sdk.resetWorkspace(id, { snapshot: "up" });
        else await at.sdk.createWorkspace(VM);
        const last = await waiting();
        await at.sdk.stopDaemon();
        await eventually(() =>
          expect([last, isRunning(last), readdirSync(spares(at, kind))]).toEqual([last, false, []]),
        );
      });
    },
    300_000,
  );
});

describe("what can go wrong with a machine", () => {
  it("the emulator is killed: the workspace fails, its files come back, others go on", async () => {
    await withInstallation(async (at) => {
      const [{ workspace_id: id }, { workspace_id: other }] = [
        await at.sdk.createWorkspace(VM),
        await at.sdk.createWorkspace(VM),
      ];
      await sh(at, id, "echo kept > f; sync");
      process.kill(emulator(at, id), "SIGKILL");
      await eventually(async () => expect((await at.sdk.statusWorkspace(id)).state).toBe("failed"));
      expect(await sh(at, other, "echo fine")).toBe("fine");
      await at.sdk.startWorkspace(id);
      expect(await sh(at, id, "cat f")).toBe("kept");
    });
  }, 300_000);

  it("QEMU is missing: says what to install, and leaves nothing", async () => {
    const bin = "/usr/bin";
    await withInstallation(async (at) => {
      const path = at.path("bin");
      mkdirSync(path);
      for (const name of readdirSync(bin)) if (!name.startsWith("qemu")) symlinkSync(join(bin, name), join(path, name));
      const { code, json } = await at.cli(["workspace", "create", "debian:12", "--backend", "vm", "--json"], {
        env: { PATH: `${path}:/usr/sbin:/sbin` },
      });
      expect(code).toBe(125);
      expect(json()["error"]).toMatchObject({
        code: "BACKEND_UNAVAILABLE",
        hint: "Install it: apt-get install qemu-system-x86",
      });
    });
  }, 120_000);

  it("a command takes more memory than the machine has: it is ended, and the machine goes on", async () => {
    await withInstallation(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({ ...VM, mem_mib: 192 });
      const { exit_code } = await at.sdk.execWorkspace(id, { command: "perl -e '$x = q(x) x 900_000_000; print 1'" });
      expect(exit_code).not.toBe(0);
      expect(await sh(at, id, "echo fine")).toBe("fine");
    });
  }, 300_000);

  it("a template is truncated, or belongs to another emulator: it is made anew, and two at once make one", async () => {
    await withInstallation(async (at) => {
      const cache = ownCache(at);
      const env = { CLOCHE_CACHE: cache };
      const create = () => at.cli(["workspace", "create", "debian:12", "--backend", "vm", "--id-only", "-v"], { env });
      const boots = { code: 0, stderr: expect.stringContaining("booting a machine\n") as string };
      const [one, two] = await Promise.all([create(), create()]);
      expect([one.code, two.code]).toEqual([0, 0]);
      // Who waits is told what for.
      for (const { stderr } of [one, two]) expect(stderr).toMatch(/(booting a|boot this) machine/);
      const templates = () => readdirSync(join(cache, "vm/templates")).filter((name) => !name.startsWith("."));
      const [key = ""] = templates();
      expect(templates()).toEqual([key]);
      truncateSync(join(cache, "vm/templates", key, "state"), 1000);
      expect(await create()).toMatchObject(boots);
      const file = join(cache, "vm/templates", key, "template.json");
      writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, "utf8")) as object), memory: "another" }));
      expect(await create()).toMatchObject({ code: 0 });
    });
  }, 600_000);

  it("the kernel lacks a module: names it", async () => {
    await withInstallation(async (at) => {
      const kernel = at.path("kernel");
      cpSync(join(SHARED, "vm/kernels/debian-12-cloud"), kernel, { recursive: true });
      execFileSync("find", [kernel, "-name", "erofs.ko", "-delete"]);
      const { code, json } = await at.cli(["workspace", "create", "debian:12", "--backend", "vm", "--json"], {
        env: { CLOCHE_VM_KERNEL: kernel, CLOCHE_CACHE: withoutBoot(at) },
      });
      expect(code).toBe(125);
      expect(json()["error"]).toMatchObject({
        code: "BACKEND_UNAVAILABLE",
        message: expect.stringContaining('"erofs"') as string,
      });
      expect(processesNaming("qemu-system").filter((line) => line.includes(at.root))).toEqual([]);
    });
  }, 120_000);

  it("the disk is full while a machine is frozen: DISK_FULL, and nothing half made", async () => {
    await withInstallation(async (at) => {
      const cache = ownCache(at);
      mkdirSync(join(cache, "vm/templates"));
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m", "tmpfs", join(cache, "vm/templates")]);
      try {
        const { code, json } = await at.cli(["workspace", "create", "debian:12", "--backend", "vm", "--json"], {
          env: { CLOCHE_CACHE: cache },
        });
        expect(code).toBe(1);
        expect(json()["error"]).toMatchObject({ code: "DISK_FULL" });
        expect(readdirSync(join(cache, "vm/templates")).filter((name) => !name.startsWith(".lock"))).toEqual([]);
      } finally {
        execFileSync("umount", [join(cache, "vm/templates")]);
      }
    });
  }, 120_000);
});

function withoutBoot(at: Installation): string {
  const cache = at.path("cache");
  mkdirSync(join(cache, "vm"), { recursive: true });
  symlinkSync(join(SHARED, "environments"), join(cache, "environments"));
  return cache;
}
