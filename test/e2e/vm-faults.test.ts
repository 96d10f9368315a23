import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeTree } from "../../src/base/remove-tree.ts";
import { type Installation, eventually, withInstallation } from "../helpers/installation.ts";
import { makeOwnCache } from "../helpers/own-cache.ts";
import { sandboxFolder } from "../helpers/running-daemon.ts";

const VM = { environment: "debian:12", backend: "vm" } as const;
/** A machine may have to boot first. */
const PATIENT = { timeout: 300_000 };
const ANY = expect.any(String) as string;

const sh = async (at: Installation, id: string, command: string): Promise<string> =>
  (await at.sdk.execWorkspace(id, { command })).stdout.trim();
const create = async (at: Installation, options = {}): Promise<string> =>
  (await at.sdk.createWorkspace({ ...VM, ...options })).workspace_id;
const emulator = (at: Installation, id: string): number => pidIn(join(sandboxFolder(at.home, id), "machine"));
const pidIn = (folder: string): number => Number(readFileSync(join(folder, "wall.pid"), "utf8").split(" ")[0]);

/** A workspace that has nothing to do with what goes wrong. */
async function withBystander(at: Installation, body: () => Promise<void>): Promise<void> {
  const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host", backend: "container" });
  await body();
  expect(await sh(at, id, "echo unharmed")).toBe("unharmed");
  expect((await at.sdk.listWorkspaces()).workspaces.map((one) => one.workspace_id)).toContain(id);
}

/** The first folder below these, each a name or a pattern, that has the file: looked for until it is there. */
async function firstWith(file: string, root: string, ...patterns: RegExp[]): Promise<string> {
  for (;;) {
    let folders = [root];
    for (const pattern of patterns)
      folders = folders.flatMap((folder) =>
        existsSync(folder)
          ? readdirSync(folder)
              .filter((name) => pattern.test(name))
              .map((name) => join(folder, name))
          : [],
      );
    const found = folders.find((folder) => existsSync(join(folder, file)));
    if (found !== undefined) return found;
    await pause(1);
  }
}

describe("QEMU is killed", PATIENT, () => {
  it("during a create: the create fails and says so, nothing of it is left, and the next one works", async () => {
    await withInstallation(async (at) => {
      await withBystander(at, async () => {
        const creating = create(at);
        creating.catch(() => undefined); // looked at below
        const folder = await firstWith("wall.pid", join(at.home, "workspaces"), /^ws-/, /^g1$/, /^machine$/);
        process.kill(pidIn(folder), "SIGKILL");
        await expect(creating).rejects.toMatchObject({ code: "SANDBOX_START_FAILED", message: ANY, hint: ANY });
        expect((await at.sdk.listWorkspaces()).count).toBe(1);
        expect(existsSync(folder)).toBe(false);
        expect(await sh(at, await create(at), "echo next")).toBe("next");
      });
    });
  });

  it("during a command: its caller is told, the workspace has failed, and starts again", async () => {
    await withInstallation(async (at) => {
      await withBystander(at, async () => {
        const id = await create(at);
        await sh(at, id, "echo kept > file; sync");
        const running = at.sdk.execWorkspace(id, { command: "touch /tmp/runs; sleep 60" });
        running.catch(() => undefined);
        await eventually(async () => expect(await sh(at, id, "ls /tmp/runs")).toBe("/tmp/runs"));
        process.kill(emulator(at, id), "SIGKILL");
        await expect(running).rejects.toMatchObject({ code: "SANDBOX_LOST", hint: ANY });
        await eventually(async () => expect(await at.sdk.statusWorkspace(id)).toMatchObject({ state: "failed" }));
        await expect(at.sdk.execWorkspace(id, { command: "true" })).rejects.toMatchObject({
          code: "WORKSPACE_NOT_RUNNING",
          hint: expect.stringContaining(`cloche workspace start ${id}`) as string,
        });
        await at.sdk.startWorkspace(id);
        expect(await sh(at, id, "cat file")).toBe("kept");
      });
    });
  });

  it.each([
    ["its devices are", "state"],
    ["its memory is", "own-memory"],
  ])("while %s saved: no snapshot, nothing of it is left, and the files come back", async (_what, file) => {
    await withInstallation(async (at) => {
      const id = await create(at);
      await sh(at, id, "echo kept > file; sync; head -c 200M /dev/urandom > /dev/shm/big");
      const saving = at.sdk.createSnapshot(id, "up", { live: true });
      saving.catch(() => undefined);
      await firstWith(file, join(at.home, "layers"), /^mc-.*\.tmp$/);
      process.kill(emulator(at, id), "SIGKILL");
      await expect(saving).rejects.toMatchObject({ code: "SANDBOX_LOST", hint: ANY });
      expect(readdirSync(join(at.home, "layers"))).toEqual([]);
      expect((await at.sdk.listSnapshots(id)).snapshots.map((one) => one.snapshot_name)).not.toContain("up");
      await eventually(async () => expect((await at.sdk.statusWorkspace(id)).state).toBe("failed"));
      await at.sdk.startWorkspace(id);
      expect(await sh(at, id, "cat file")).toBe("kept");
    });
  });
});

describe("QEMU has too little memory", PATIENT, () => {
  it("on the host: the kernel ends it, its workspace has failed, and others go on", async () => {
    await withInstallation(async (at) => {
      await withBystander(at, async () => {
        const [id, other] = [await create(at), await create(at)];
        await sh(at, id, "echo kept > file; sync");
        const group = mkdtempSync("/sys/fs/cgroup/memory/cl-vm-");
        try {
          writeFileSync(join(group, "memory.limit_in_bytes"), String(48 * 1024 * 1024));
          writeFileSync(join(group, "cgroup.procs"), String(emulator(at, id)));
          const greedy = at.sdk.execWorkspace(id, { command: "head -c 700M /dev/zero > /dev/shm/big" });
          await expect(greedy).rejects.toMatchObject({ code: "SANDBOX_LOST", hint: ANY });
        } finally {
          await eventually(() => rmdirSync(group));
        }
        await eventually(async () => expect((await at.sdk.statusWorkspace(id)).state).toBe("failed"));
        expect(await sh(at, other, "echo fine")).toBe("fine");
        await at.sdk.startWorkspace(id);
        expect(await sh(at, id, "cat file")).toBe("kept");
      });
    });
  });

  it("because more was asked for than there can be: says so before it starts, and what to do, and leaves nothing", async () => {
    const cache = makeOwnCache(mkdtempSync(join(tmpdir(), "cl-vc-")));
    await withInstallation(
      async (at) => {
        const { code, json } = await at.cli([
          ...["workspace", "create", "debian:12", "--backend", "vm", "--mem-mib", "1048576", "--json"],
        ]);
        expect(json()["error"]).toMatchObject({
          code: "INVALID_ARGUMENT",
          message: expect.stringMatching(/memory/) as string,
          hint: expect.stringContaining("--mem-mib") as string,
        });
        expect(code).toBe(2);
        expect((await at.sdk.listWorkspaces()).count).toBe(0);
        expect(wholeIn(join(cache, "vm/templates"))).toEqual([]);
      },
      { CLOCHE_CACHE: cache },
    );
    await removeTree(cache);
  });
});

const wholeIn = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith(".lock-")) : [];

describe("a template", PATIENT, () => {
  let cache: string;
  beforeAll(() => {
    cache = makeOwnCache(mkdtempSync(join(tmpdir(), "cl-vc-")));
  });
  afterAll(() => removeTree(cache));
  const templates = (): string[] => wholeIn(join(cache, "vm/templates"));

  it("whose emulator is killed while it boots is not made: the create says so, and the next one makes it", async () => {
    await withInstallation(
      async (at) => {
        await withBystander(at, async () => {
          const creating = create(at);
          creating.catch(() => undefined);
          const folder = await firstWith("control.sock", join(cache, "vm/templates"), /^\.tmp-/);
          process.kill(pidIn(folder), "SIGKILL");
          await expect(creating).rejects.toMatchObject({ code: "SANDBOX_START_FAILED", message: ANY, hint: ANY });
          expect(templates()).toEqual([]);
          expect((await at.sdk.listWorkspaces()).count).toBe(1);
        });
      },
      { CLOCHE_CACHE: cache },
    );
  });

  it("that two daemons need at once is made by one of them, and serves both", async () => {
    const env = { CLOCHE_CACHE: cache };
    await withInstallation(async (one) => {
      await withInstallation(async (other) => {
        const made = await Promise.all([one, other].map(async (at) => [at, await create(at)] as const));
        expect(templates()).toHaveLength(1);
        const ids = await Promise.all(made.map(([at, id]) => sh(at, id, "hostname; cat /etc/machine-id")));
        expect(new Set(ids).size).toBe(2);
      }, env);
    }, env);
  });

  it("of another version of QEMU is not used, nor is a machine that it has saved; the workspace goes on", async () => {
    await withInstallation(
      async (at) => {
        const id = await create(at);
        const before = templates();
        await at.sdk.createSnapshot(id, "up", { live: true });
        await at.sdk.stopDaemon();
        const bin = mkdtempSync(join(tmpdir(), "cl-vq-"));
        chmodSync(bin, 0o755); // QEMU runs as another user
        writeFileSync(
          join(bin, "qemu-system-x86_64"),
          '#!/bin/sh\n[ "$1" != --version ] || { echo "QEMU emulator version 7.2.99 (of a test)"; exit; }\nexec /usr/bin/qemu-system-x86_64 "$@"\n',
        );
        chmodSync(join(bin, "qemu-system-x86_64"), 0o755);
        const env = { PATH: `${bin}:${process.env["PATH"] ?? ""}` };
        const reset = await at.cli(["workspace", "reset", id, "--snapshot", "up", "--json"], { env });
        expect(reset.json()["error"]).toMatchObject({
          code: "SANDBOX_START_FAILED",
          message: expect.stringContaining("saved by another emulator") as string,
          hint: expect.stringContaining("install that version") as string,
        });
        expect(await sh(at, id, "echo goes on")).toBe("goes on");
        expect(await sh(at, await create(at), "echo of the other")).toBe("of the other");
        expect(templates()).toHaveLength(before.length + 1);
        expect(templates()).toEqual(expect.arrayContaining(before));
        await removeTree(bin);
      },
      { CLOCHE_CACHE: cache },
    );
  });
});

describe("the disk is full", PATIENT, () => {
  it("while a machine is saved alive: DISK_FULL, nothing half saved, and the machine goes on", async () => {
    await withInstallation(async (at) => {
      const id = await create(at);
      const layers = join(at.home, "layers");
      mkdirSync(layers, { recursive: true });
      await sh(at, id, "head -c 32M /dev/urandom > /dev/shm/big");
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", layers]);
      try {
        const { code, json } = await at.cli(["workspace", "snapshot", "create", id, "up", "--live", "--json"]);
        expect([code, json()["error"]]).toEqual([
          1,
          expect.objectContaining({ code: "DISK_FULL", hint: expect.stringContaining("Free some space") as string }),
        ]);
        expect(readdirSync(layers)).toEqual([]);
        expect((await at.sdk.listSnapshots(id)).snapshots.map((one) => one.snapshot_name)).not.toContain("up");
        expect(await sh(at, id, "stat -c %s /dev/shm/big")).toBe(String(32 * 1024 * 1024));
      } finally {
        execFileSync("umount", [layers]);
      }
      expect((await at.sdk.createSnapshot(id, "up", { live: true })).snapshot).toMatchObject({ live: true });
    });
  });
});
