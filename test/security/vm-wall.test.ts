import { mkdirSync, readFileSync, readdirSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Installation } from "../helpers/installation.ts";

/** Attacks on a machine from inside, and on what its emulator could do if a guest had taken it over (G-22). */
describe("G-22 the wall of a machine", () => {
  let at: Installation;
  let ids: string[];
  let emulators: number[];

  beforeAll(async () => {
    at = new Installation("vw");
    mkdirSync(at.path("project"));
    writeFileSync(at.path("project/file"), "");
    const create = (more = {}) => at.sdk.createWorkspace({ environment: "debian:12", backend: "vm", ...more });
    ids = [(await create()).workspace_id, (await create({ seed_path: at.path("project") })).workspace_id];
    emulators = ids.map((id) =>
      Number(readFileSync(join(at.home, "workspaces", id, "g1/machine/wall.pid"), "utf8").split(" ")[0]),
    );
  }, 300_000);
  afterAll(() => at[Symbol.asyncDispose]());

  const sh = async (command: string, id = ids[0] ?? ""): Promise<string> =>
    (await at.sdk.execWorkspace(id, { command })).stdout.trim();
  const status = (pid: number, name: string): string =>
    new RegExp(`^${name}:[\\t ]*(.*)$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "";

  it("has no network device, no disk and no port of the host in it", async () => {
    expect(await sh("cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' '")).toBe("lo");
    expect(await sh("ls /dev | grep -E 'vd|vport|hvc|ttyS|mem|kvm|sd|loop' | wc -l")).toBe("0");
    expect(await sh("for n in 'b 254 0' 'c 10 229'; do mknod /tmp/x $n && echo made; done 2>&1 | grep -c made")).toBe(
      "0",
    );
    expect(await sh("ls /sys | wc -l")).toBe("0");
  });

  it("lets no command steer its kernel, not even as the sandbox's root", async () => {
    expect(await sh("echo '|/tmp/x' 2>/dev/null > /proc/sys/kernel/core_pattern && echo written; true")).toBe("");
    expect(await sh("grep ' /proc/sys ' /proc/mounts | grep -c '\\bro,'")).toBe("1");
  });

  it("its emulator is nobody, has no capability, a filter, and gains nothing", () => {
    const users = emulators.map((pid) => Number(status(pid, "Uid").split("\t")[0]));
    for (const uid of users) expect(uid).toBeGreaterThanOrEqual(1_900_065_536);
    expect(new Set(users).size).toBe(2);
    for (const pid of emulators) {
      for (const set of ["CapEff", "CapPrm", "CapInh", "CapAmb"])
        expect(status(pid, set), set).toBe("0000000000000000");
      expect(status(pid, "NoNewPrivs")).toBe("1");
      expect(status(pid, "Seccomp")).toBe("2");
      expect(status(pid, "Groups").trim()).toBe("");
    }
  });

  it("its emulator has a network namespace with nothing in it, and no file of the host but its own", () => {
    for (const [index, pid] of emulators.entries()) {
      expect(readlinkSync(`/proc/${pid}/ns/net`)).not.toBe(readlinkSync("/proc/self/ns/net"));
      const devices = readFileSync(`/proc/${pid}/net/dev`, "utf8").trim().split("\n").slice(2);
      expect(devices.map((line) => line.split(":")[0]?.trim())).toEqual(["lo"]);
      const writable = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
        const flags = parseInt(/flags:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8"))?.[1] ?? "0", 8);
        const target = readlinkSync(`/proc/${pid}/fd/${fd}`);
        return (flags & 3) !== 0 && statSync(`/proc/${pid}/fd/${fd}`).isFile() ? [target] : [];
      });
      const own = join(at.home, "workspaces", ids[index] ?? "", "g1");
      expect(writable.filter((path) => !path.startsWith(own))).toEqual([]);
      expect(writable.length).toBeGreaterThan(0);
    }
  });

  it("cannot change the memory that other machines start from: no emulator has it open for writing or maps it shared", () => {
    for (const pid of emulators) {
      const maps = readFileSync(`/proc/${pid}/maps`, "utf8").split("\n");
      const memory = maps.filter((line) => line.includes("/vm/templates/") && line.endsWith("/memory"));
      expect(memory.length).toBeGreaterThan(0);
      for (const line of memory) expect(line).toMatch(/^\S+ ..-p|^\S+ ...p/);
    }
  });

  it("what machines start from is nobody's to write, and a project is its own machine's to read", () => {
    const shared = new Set<string>();
    for (const pid of emulators)
      for (const fd of readdirSync(`/proc/${pid}/fd`)) {
        const path = readlinkSync(`/proc/${pid}/fd/${fd}`);
        if (/\/vm\/(templates|seeds|environments)\//.test(path)) shared.add(path);
      }
    const memory = [...shared].find((path) => path.endsWith("/memory")) ?? "";
    for (const name of ["disk", "state"]) shared.add(join(dirname(memory), name));
    expect([...shared].some((path) => path.includes("/seeds/"))).toBe(true);
    for (const path of shared) {
      const { uid, mode } = statSync(path);
      expect(uid, path).toBe(0);
      expect((mode & 0o777).toString(8), path).toBe(path === memory ? "444" : "400");
    }
  });

  it("thawed twice: other randomness, host name, machine id and boot id, and the time of now", async () => {
    const facts = [
      "head -c 16 /dev/urandom | od -An -tx1",
      "hostname",
      "cat /etc/machine-id",
      "cat /proc/sys/kernel/random/boot_id",
    ];
    for (const command of facts) {
      const [one, other] = [await sh(command), await sh(command, ids[1])];
      expect(one, command).not.toBe("");
      expect(one, command).not.toBe(other);
    }
    expect(Math.abs(Number(await sh("date +%s")) - Date.now() / 1000)).toBeLessThan(5);
  });
});
