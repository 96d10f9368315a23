import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SHIFT_BASE, SHIFT_COUNT } from "../../src/base/id-map.ts";
import { childrenOf, isProcessAlive, type ProcessIdentity } from "../../src/base/process-identity.ts";
import { removeTree } from "../../src/base/remove-tree.ts";
import { runAsUser } from "../helpers/as-user.ts";
import { eventually, type Installation, withInstallation } from "../helpers/installation.ts";
import { killDaemon, sandboxFolder } from "../helpers/running-daemon.ts";

/** What a sandbox is made of, as itself sees it. */
interface Parts {
  readonly network: string;
  readonly users: string;
  readonly ids: number;
  readonly devices: string;
}

const LOOK = "readlink /proc/self/ns/net /proc/self/ns/user; awk '{print $2}' /proc/self/uid_map; stat -c %d /dev";

async function create({ sdk }: Installation, environment = "host"): Promise<string> {
  return (await sdk.createWorkspace({ environment })).workspace_id;
}

async function partsOf({ sdk }: Installation, id: string): Promise<Parts> {
  const { stdout } = await sdk.execWorkspace(id, { command: LOOK });
  const [network = "", users = "", ids, devices = ""] = stdout.trim().split("\n");
  return { network, users, ids: Number(ids), devices };
}

/** The process of the daemon that holds the spare. */
async function starterOf({ sdk }: Installation): Promise<ProcessIdentity> {
  const { pid } = await sdk.daemonStatus();
  const starter = childrenOf(pid ?? 0).find((one) =>
    readFileSync(`/proc/${one.pid}/cmdline`, "latin1").includes("\0starter\0"),
  );
  if (!starter) throw new Error("the daemon has no starter");
  return starter;
}

const descriptorsOf = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return []; // closed meanwhile, or not ours to look at
    }
  });

const networksOf = (pid: number): string[] => descriptorsOf(pid).filter((path) => path.startsWith("net:["));

/** The network of the spare that it holds, once it has one. */
async function spareOf(starter: ProcessIdentity): Promise<string> {
  await eventually(() => expect(networksOf(starter.pid)).toHaveLength(1));
  return networksOf(starter.pid)[0] ?? "";
}

/** The range of ids that a starter keeps for the next sandbox. */
const keptRange = (pid: number): string => descriptorsOf(pid).find((path) => path.startsWith("/run/cloche/ids/")) ?? "";

/** Processes that are in a network or hold it. */
function holdersOf(network: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/ns/net`) === network || networksOf(pid).includes(network);
      } catch {
        return false; // it has ended
      }
    });
}

const isFree = (range: string): boolean => {
  try {
    execFileSync("flock", ["--nonblock", range, "true"]);
    return true;
  } catch {
    return false;
  }
};

describe("what is made ahead for the next sandbox", () => {
  it("G-138 is used by one sandbox, and no other ever has a part of it", async () => {
    await withInstallation(async (at) => {
      const parts = [await partsOf(at, await create(at))];
      const starter = await starterOf(at);
      for (const environment of ["debian:12", "host"]) {
        const spare = await spareOf(starter);
        const next = await partsOf(at, await create(at, environment));
        expect(next.network, "the spare is what it got").toBe(spare);
        parts.push(next);
      }
      // More than there are spares.
      const ids = await Promise.all(Array.from({ length: 4 }, async () => await create(at)));
      for (const id of ids) parts.push(await partsOf(at, id));
      for (const name of ["network", "users", "ids", "devices"] as const)
        expect(new Set(parts.map((one) => one[name])).size, name).toBe(parts.length);
      const own = parts.map((one) => one.ids).sort((a, b) => a - b);
      expect(own.every((first, index) => index === 0 || first - (own[index - 1] ?? 0) >= SHIFT_COUNT)).toBe(true);
      expect(parts.map(({ network }) => network)).not.toContain(await spareOf(starter));
    });
  });

  it("G-139 is gone when the daemon is killed, and leaves no process, no network and no ids taken", async () => {
    await withInstallation(async (at) => {
      await create(at);
      const starter = await starterOf(at);
      const [spare, range] = [await spareOf(starter), keptRange(starter.pid)];
      expect(holdersOf(spare)).toEqual([starter.pid]);
      expect(isFree(range)).toBe(false);
      await killDaemon(at);
      // The kernel takes a moment to have all of a process back.
      await eventually(() =>
        expect([isProcessAlive(starter), holdersOf(spare), isFree(range)]).toEqual([false, [], true]),
      );
    });
  });

  it("G-139 is gone when the process that holds it is killed, at whatever moment, and the next sandbox starts without", async () => {
    await withInstallation(async (at) => {
      const first = await create(at);
      for (let pause = 0; pause < 10; pause++) {
        const starter = await starterOf(at);
        const held = networksOf(starter.pid);
        // While the next one is made, or right after.
        await new Promise((done) => setTimeout(done, pause));
        process.kill(starter.pid, "SIGKILL");
        // The process that has made it may still be on its way out.
        await eventually(() => expect([isProcessAlive(starter), ...held.flatMap(holdersOf)]).toEqual([false]));
        const { sdk } = at;
        // A create that is asked for before the daemon has noticed is told so; the next one begins a new starter.
        const id = await create(at).catch(async () => await create(at));
        expect((await sdk.execWorkspace(id, { command: "echo works" })).stdout).toBe("works\n");
        await sdk.deleteWorkspace(id);
      }
      expect((await at.sdk.execWorkspace(first, { command: "echo works" })).stdout).toBe("works\n");
    });
  });

  it("G-138 is left alone where the files of a sandbox cannot have its ids", async () => {
    const cache = realpathSync(mkdtempSync(join(tmpdir(), "cl-sw-")));
    const environments = join(cache, "environments");
    mkdirSync(environments, { mode: 0o700 });
    // A file system that knows no mapped mounts.
    execFileSync("mount", ["-t", "ramfs", "-o", "mode=700", "ramfs", environments]);
    try {
      await withInstallation(
        async (at) => {
          const first = await create(at);
          const spare = await spareOf(await starterOf(at));
          const second = await create(at);
          for (const id of [first, second])
            expect(readFileSync(join(sandboxFolder(at.home, id), "wall.ids"), "utf8")).toMatch(/^shared /);
          expect(await partsOf(at, second)).toMatchObject({ ids: SHIFT_BASE });
          expect(holdersOf(spare), "the launcher has let go of it").toEqual([]);
        },
        { CLOCHE_CACHE: cache },
      );
    } finally {
      execFileSync("umount", [environments]);
      await removeTree(cache);
    }
  });

  it("G-138 serves a user other than root as well", async () => {
    const script = `
      set -e
      one=$($CLOCHE workspace create host --json | sed -n 's/.*"workspace_id": *"\\([^"]*\\)".*/\\1/p')
      sleep 0.5
      two=$($CLOCHE workspace create host --json | sed -n 's/.*"workspace_id": *"\\([^"]*\\)".*/\\1/p')
      for id in $one $two; do $CLOCHE workspace exec $id -- readlink /proc/self/ns/net /proc/self/ns/user; done
      for id in $one $two; do $CLOCHE workspace delete $id >/dev/null; done
      $CLOCHE daemon stop >/dev/null`;
    const { code, stdout, stderr } = await runAsUser(script);
    expect(code, stderr).toBe(0);
    const seen = stdout.trim().split("\n");
    expect(seen).toHaveLength(4);
    expect(new Set(seen).size).toBe(4);
  });
});
