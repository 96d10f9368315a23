import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { errnoOf, messageOf } from "../base/errors.ts";
import type { LimitHealth } from "../model/health.ts";

/**
 * Memory, process and cpu limits through the host's cgroups, version 1 or 2, as far as they let us. One cgroup per workspace and
 * hierarchy, named after the installation and the workspace, so that a later daemon finds it without a record.
 */
const CONTROLLERS = ["memory", "pids", "cpu"] as const;
const BUSY_PATIENCE_MS = 1000;
const BUSY_PAUSE_MS = 5;
type Controller = (typeof CONTROLLERS)[number];
/**
 * What the launcher, which has one thread, writes to. A thread that moves itself by `tasks` takes no lock of the whole system, which costs up to ten
 * milliseconds; version 2 has no such file for a cgroup with a memory limit.
 */
const JOIN_FILE = { 1: "tasks", 2: "cgroup.procs" } as const;

export interface CgroupLimits {
  readonly vcpuCount: number;
  readonly memMib: number;
  readonly pids: number;
}

interface Hierarchy {
  readonly version: 1 | 2;
  /** The folder below which ours are made. */
  readonly base: string;
}

/** Files that a process joins cgroups by, writing `0` to them. */
export interface CgroupJoins {
  /** For the first process of a sandbox. */
  readonly joins: readonly string[];
  /** For each command, where commands are apart. */
  readonly commands: string | undefined;
}

/** Name of the cgroup below a workspace's in which its commands are. */
const COMMANDS = "commands";
/** What the guest program and file work may take beside the memory of commands: most of it is for the logs of services and shells. */
export const GUEST_MIB = 256;

export class Cgroups {
  readonly #group: string;
  readonly #hierarchies = new Map<Controller, Hierarchy>();
  readonly #reasons = new Map<Controller, string>();

  private constructor(home: string) {
    this.#group = `cloche-${createHash("sha256").update(home).digest("hex").slice(0, 10)}`;
  }

  /** Finds what works by making a cgroup and setting the limit in it. */
  static detect(home: string): Cgroups {
    const cgroups = new Cgroups(home);
    for (const controller of CONTROLLERS) {
      try {
        const hierarchy = findHierarchy(controller);
        if (!hierarchy) throw new Error(`no ${controller} controller in /proc/self/cgroup`);
        cgroups.#hierarchies.set(controller, hierarchy);
        const trial = cgroups.#directory(hierarchy, `probe-${process.pid}`);
        cgroups.#make(hierarchy, trial);
        try {
          writeLimit(controller, hierarchy.version, trial, { vcpuCount: 1, memMib: 64, pids: 16 });
        } finally {
          rmdirSync(trial);
          removeUnused(dirname(trial));
        }
      } catch (error) {
        cgroups.#hierarchies.delete(controller);
        const closed = errnoOf(error) === "EACCES" || errnoOf(error) === "EROFS";
        cgroups.#reasons.set(controller, closed ? "this user may not make cgroups here" : messageOf(error));
      }
    }
    return cgroups;
  }

  holds(controller: Controller): boolean {
    return this.#hierarchies.has(controller);
  }

  health(): LimitHealth[] {
    return CONTROLLERS.map((name) => {
      const hierarchy = this.#hierarchies.get(name);
      if (hierarchy) return { name, holds: true, detail: `cgroup v${hierarchy.version}` };
      const instead = name === "pids" ? "; RLIMIT_NPROC holds instead" : "";
      return { name, holds: name === "pids", detail: `${this.#reasons.get(name) ?? "not available"}${instead}` };
    });
  }

  /** Whether commands can have a memory cgroup of their own: in version 2 each of them would wait milliseconds for a lock of the whole system to join it. */
  get canSetCommandsApart(): boolean {
    return this.#hierarchies.get("memory")?.version === 1;
  }

  /** Makes the workspace's cgroups with their limits. */
  create(sandboxName: string, limits: CgroupLimits, commandsApart = false): CgroupJoins {
    const joins = new Set<string>();
    let commands: string | undefined;
    for (const [controller, hierarchy] of this.#hierarchies) {
      const directory = this.#directory(hierarchy, sandboxName);
      this.#make(hierarchy, directory);
      joins.add(join(directory, JOIN_FILE[hierarchy.version]));
      if (controller !== "memory" || !commandsApart) writeLimit(controller, hierarchy.version, directory, limits);
      else commands = makeCommandsGroup(directory, hierarchy.version, limits);
    }
    return { joins: [...joins], commands };
  }

  /** Host pids of every process in the workspace's cgroups. */
  processes(sandboxName: string): number[] {
    const pids = new Set<number>();
    for (const directory of [...this.#directories(sandboxName)].flatMap((path) => [path, join(path, COMMANDS)])) {
      try {
        for (const line of readFileSync(join(directory, "cgroup.procs"), "latin1").split("\n"))
          if (line) pids.add(Number(line));
      } catch {
        // no such cgroup
      }
    }
    return [...pids];
  }

  async remove(sandboxName: string): Promise<void> {
    for (const directory of this.#directories(sandboxName)) {
      await removeGroup(directory);
      removeUnused(dirname(directory));
    }
  }

  #directories(sandboxName: string): Set<string> {
    return new Set([...this.#hierarchies.values()].map((hierarchy) => this.#directory(hierarchy, sandboxName)));
  }

  #directory(hierarchy: Hierarchy, name: string): string {
    return join(hierarchy.base, this.#group, name);
  }

  #make(hierarchy: Hierarchy, directory: string): void {
    if (mkdirSync(dirname(directory), { recursive: true }) !== undefined) setWeight(dirname(directory));
    if (hierarchy.version === 2)
      writeFileSync(
        join(dirname(directory), "cgroup.subtree_control"),
        CONTROLLERS.map((name) => `+${name}`).join(" "),
      );
    try {
      mkdirSync(directory);
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    }
  }
}

/** What one process of the host weighs, and the most that can be set, in each version. */
const WEIGHTS = [
  { file: "cpu.shares", one: 1024, most: 262_144 },
  { file: "cpu.weight", one: 100, most: 10_000 },
] as const;

/** All sandboxes of an installation together weigh as much as a process on each processor: otherwise one busy process of the host would take half of the host from them. */
function setWeight(group: string): void {
  for (const { file, one, most } of WEIGHTS)
    if (existsSync(join(group, file)))
      writeFileSync(join(group, file), String(Math.min(one * availableParallelism(), most)));
}

/** A process that has ended leaves its cgroup a moment later, which nothing tells; until then the kernel answers EBUSY. */
export async function removeGroup(directory: string, patienceMs = BUSY_PATIENCE_MS): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      // Deepest first: a guest with its own cgroup namespace cannot make any, but an OCI runtime may have.
      for (const name of readdirSync(directory, { withFileTypes: true }))
        if (name.isDirectory()) rmdirSync(join(directory, name.name));
      rmdirSync(directory);
      return;
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return;
      if (errnoOf(error) !== "EBUSY" || performance.now() >= deadline) throw error;
    }
    await new Promise((done) => setTimeout(done, BUSY_PAUSE_MS));
  }
}

/** The installation's own cgroup goes with its last workspace; the next one makes it again. */
function removeUnused(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    if (!["EBUSY", "ENOTEMPTY", "ENOENT"].includes(errnoOf(error) ?? "")) throw error;
  }
}

function findHierarchy(controller: Controller): Hierarchy | undefined {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n").map(parseMount);
  for (const line of readFileSync("/proc/self/cgroup", "utf8").split("\n")) {
    const [, names, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (names === undefined || path === undefined) continue;
    if (names.split(",").includes(controller)) {
      const mount = mounts.find((one) => one?.type === "cgroup" && one.options.includes(controller));
      if (mount) return { version: 1, base: join(mount.point, path) };
    }
    if (names === "") {
      const mount = mounts.find((one) => one?.type === "cgroup2");
      const base = mount && delegatedBase(mount.point, path, controller);
      if (base) return { version: 2, base };
    }
  }
  return undefined;
}

/**
 * Version 2 lets no cgroup with processes hand controllers down, so ours go beside our own, or further up: the nearest folder
 * that is ours to write and has the controller to give; the root for root.
 */
function delegatedBase(mountPoint: string, ownPath: string, controller: Controller): string | undefined {
  for (let path = ownPath; ; path = dirname(path)) {
    const directory = join(mountPoint, dirname(path));
    try {
      accessSync(directory, constants.W_OK);
      if (readFileSync(join(directory, "cgroup.subtree_control"), "utf8").split(/\s+/).includes(controller))
        return directory;
    } catch {
      return undefined;
    }
    if (dirname(path) === "/") return undefined;
  }
}

function parseMount(line: string): { point: string; type: string; options: string[] } | undefined {
  const [before, after] = line.split(" - ");
  const point = before?.split(" ")[4];
  const [type, , options] = after?.split(" ") ?? [];
  return point !== undefined && type !== undefined ? { point, type, options: options?.split(",") ?? [] } : undefined;
}

/** SECURITY: memory that commands fill up ends commands, never the guest program, which has a share that they cannot take (G-08). */
function makeCommandsGroup(directory: string, version: 1 | 2, limits: CgroupLimits): string {
  const commands = join(directory, COMMANDS);
  mkdirSync(commands, { recursive: true });
  writeLimit("memory", version, directory, { ...limits, memMib: limits.memMib + GUEST_MIB });
  writeLimit("memory", version, commands, limits);
  return join(commands, JOIN_FILE[version]);
}

const CPU_PERIOD_US = 100_000;

function writeLimit(controller: Controller, version: 1 | 2, directory: string, limits: CgroupLimits): void {
  const write = (file: string, value: string | number) => writeFileSync(join(directory, file), String(value));
  const bytes = limits.memMib * 1024 * 1024;
  const quota = limits.vcpuCount * CPU_PERIOD_US;
  switch (controller) {
    case "memory":
      write(version === 1 ? "memory.limit_in_bytes" : "memory.max", bytes);
      break;
    case "pids":
      write("pids.max", limits.pids);
      break;
    case "cpu":
      if (version === 2) write("cpu.max", `${quota} ${CPU_PERIOD_US}`);
      else {
        write("cpu.cfs_period_us", CPU_PERIOD_US);
        write("cpu.cfs_quota_us", quota);
      }
  }
}
