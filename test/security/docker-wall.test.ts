import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DockerBackend } from "../../src/backends/docker/docker-backend.ts";
import { SHIFT_BASE, SHIFT_COUNT, currentIdMap } from "../../src/base/id-map.ts";
import { silentLog } from "../../src/base/log.ts";
import { removeTree } from "../../src/base/remove-tree.ts";
import { createEnvironments } from "../../src/environments/environments.ts";
import { shell } from "../guest/real-guest.ts";
import { DockerEngine } from "../helpers/docker-engine.ts";
import { Installation } from "../helpers/installation.ts";
import { sandboxFolder } from "../helpers/running-daemon.ts";

const USER = 54_321;

describe("G-21 a container of the docker backend", () => {
  let engine: DockerEngine;
  let at: Installation;
  let id: string;

  beforeAll(async () => {
    engine = await DockerEngine.start();
    at = new Installation("g21", { ...engine.env, CLOCHE_BACKEND: "docker" });
    mkdirSync(at.path("project"));
    writeFileSync(at.path("project/file"), "original\n");
    id = (await at.sdk.createWorkspace({ environment: "host", seed_path: at.path("project") })).workspace_id;
  });
  afterAll(async () => {
    await at[Symbol.asyncDispose]();
    await engine[Symbol.asyncDispose]();
  });

  const sh = async (command: string) => await at.sdk.execWorkspace(id, { command });

  /** `/proc/PID/status` of everything in the container, as the host sees it. */
  async function processes(): Promise<{ pid: string; status: string }[]> {
    const lines = (await engine.docker("top", await engine.docker("ps", "-q"), "-eo", "pid")).split("\n").slice(1);
    return lines.map((pid) => ({ pid: pid.trim(), status: readFileSync(`/proc/${pid.trim()}/status`, "utf8") }));
  }
  const field = (status: string, name: string) => new RegExp(`^${name}:[ \\t]*(.*)$`, "m").exec(status)?.[1] ?? "";

  it("G-21 no process of it has an id that anybody has on the host, nor a capability there", async () => {
    await sh("(setsid sleep 600 > /dev/null 2>&1 &)");
    const found = await processes();
    expect(found.length).toBeGreaterThanOrEqual(2);
    for (const { pid, status } of found) {
      for (const name of ["Uid", "Gid"])
        for (const value of field(status, name).split(/\s+/).map(Number)) {
          expect(value).toBeGreaterThanOrEqual(SHIFT_BASE);
          expect(value).toBeLessThan(SHIFT_BASE + SHIFT_COUNT);
        }
      expect(field(status, "Groups").trim()).toBe("");
      // What capabilities it has are over its own user namespace, which is not the host's.
      expect(readlinkSync(`/proc/${pid}/ns/user`)).not.toBe(readlinkSync("/proc/self/ns/user"));
      expect(field(status, "NoNewPrivs")).toBe("1");
      expect(Number(field(status, "Seccomp_filters"))).toBeGreaterThanOrEqual(2); // the engine's, and ours
    }
    const command = found.find(({ status }) => field(status, "Name") === "sleep");
    expect(command && field(command.status, "CapEff")).toBe("0000000000000000");
    expect(command && field(command.status, "CapBnd")).toBe("0000000000000000");
  });

  it("G-21 what the engine was asked for: no network, no capability beyond three, its own filter kept", async () => {
    const [container] = JSON.parse(await engine.docker("inspect", await engine.docker("ps", "-q"))) as [
      {
        HostConfig: Record<string, unknown>;
        Config: { Labels: Record<string, string> };
        Mounts: { RW: boolean; Source: string }[];
      },
    ];
    expect(container.HostConfig).toMatchObject({
      NetworkMode: "none",
      Privileged: false,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      CgroupnsMode: "private",
      PidMode: "",
    });
    expect((container.HostConfig["CapAdd"] as string[]).map((name) => name.replace(/^CAP_/, "")).sort()).toEqual([
      "SETGID",
      "SETUID",
      "SYS_ADMIN",
    ]);
    expect(statSync(join(sandboxFolder(at.home, id), "socket")).mode & 0o077).toBe(0);
    expect(container.HostConfig["Memory"]).toBeGreaterThan(0);
    expect(container.HostConfig["PidsLimit"]).toBeGreaterThan(0);
    expect(container.HostConfig["NanoCpus"]).toBeGreaterThan(0);
    expect(container.Config.Labels).toMatchObject({ "cloche.workspace": `${id}-g1` });
    const writable = container.Mounts.filter(({ RW }) => RW).map(({ Source }) => Source);
    // The socket folder is gone from the sandbox before its first command.
    const own = /\/socket$|\/volumes\//;
    expect(writable.filter((source) => !own.test(source))).toEqual([]);
  });

  it("G-01 the mount table names nothing of the home, the project or where cloche is installed", async () => {
    const { stdout } = await sh("cat /proc/self/mountinfo; for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; done");
    expect(stdout).toContain("/workspace");
    for (const secret of [at.root, "workspaces/", "cloche-guest", "/layers/", "seeds/"])
      expect(stdout).not.toContain(secret);
  });

  it("G-02 G-05 layers, socket folder, guest program and the engine's socket are not there to be opened", async () => {
    // What is left are the empty places where they were mounted while the guest program started.
    expect(
      (await sh("find /.cloche -type f -size +0; find /.cloche -mindepth 2 -not -path '/.cloche/mounted/*'")).stdout,
    ).toBe("");
    expect(
      (await sh("find / -xdev -type s 2>/dev/null; ls /var/run/docker.sock /run/docker.sock 2>/dev/null")).stdout,
    ).toBe("");
    await sh("echo changed > file");
    expect(readFileSync(at.path("project/file"), "utf8")).toBe("original\n");
  });

  it("G-07 devices and cgroups of the host do not show through /sys, and kernel files are masked", async () => {
    expect((await sh("ls -A /sys")).stdout).toBe("");
    expect((await sh("cat /proc/cmdline /proc/kallsyms /proc/partitions /proc/keys | wc -c")).stdout.trim()).toBe("0");
    expect((await sh("echo x > /proc/sys/kernel/hostname")).exit_code).not.toBe(0);
    expect((await sh("grep -cE '^proc /proc/sys/(kernel|net|vm|fs) proc ro,' /proc/mounts")).stdout).toBe("4\n");
    expect((await sh("ls -A /usr/local/etc")).stdout).toBe("");
  });

  it("G-03 no name server and no other name of the host is in it", async () => {
    expect((await sh("cat /etc/resolv.conf")).stdout).toBe("");
    expect((await sh("cat /etc/hosts")).stdout).toBe(
      "127.0.0.1 localhost cloche\n::1 localhost ip6-localhost ip6-loopback\n",
    );
  });

  it("G-15 what it may take of the host's inotify instances is bounded", async () => {
    expect(Number((await sh("cat /proc/sys/user/max_inotify_instances")).stdout)).toBeLessThanOrEqual(32);
  });
});

describe("G-21 run by a user other than root", () => {
  it("G-21 the one user of the sandbox is that user: no root in it, and files are the user's", async () => {
    await using engine = await DockerEngine.start();
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "cl-g21u-")));
    const idMap = currentIdMap(USER, USER);
    const env = { ...process.env, ...engine.env, XDG_RUNTIME_DIR: join(folder, "run") };
    const backend = new DockerBackend({
      home: join(folder, "h"),
      cache: join(folder, "c"),
      idMap,
      log: silentLog,
      env,
    });
    const rootfs = await createEnvironments({ cachePath: join(folder, "c"), idMap, log: silentLog }).ensure("host", {});
    const directory = join(folder, "g1");
    mkdirSync(join(folder, "base"));
    mkdirSync(directory);
    const limits = { vcpuCount: 1, memMib: 256, pids: 64, diskMib: undefined };
    const spec = {
      sandboxName: "ws-0123456789-g1",
      directory,
      rootfs,
      baseline: join(folder, "base"),
      layers: [],
      hostname: "h",
      limits,
      ociRuntime: undefined,
    };
    try {
      const wall = await backend.start(spec, undefined);
      const client = await wall.connect();
      const { stdout: out } = await shell(
        client,
        "id -u; id -g; echo mine > /workspace/f; cat /proc/self/uid_map; cat /etc/hosts | wc -l",
      );
      expect(out.replaceAll(/ +/g, " ")).toBe(`1000\n1000\n 1000 ${USER} 1\n2\n`);
      expect(statSync(join(directory, "workspace/upper/f"))).toMatchObject({ uid: USER, gid: USER });
      expect(statSync(join(directory, "socket/guest.sock"))).toMatchObject({ uid: USER, gid: USER });
      client.close();
      await wall.stop();
    } finally {
      await backend.remove(spec.sandboxName, directory);
      expect(await engine.leftovers()).toEqual([]);
      await removeTree(folder);
    }
  });
});
