import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cgroupsNaming } from "../helpers/cgroups.ts";
import { eventually, type Installation, withInstallation } from "../helpers/installation.ts";
import { wallPid } from "../helpers/running-daemon.ts";

const COUNT = 20;

const pidOf = async (at: Installation): Promise<number> => (await at.sdk.daemonStatus()).pid ?? 0;
const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;
const residentMib = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim().split(" ").filter(Boolean).map(Number);
/** Of the daemon: its own, but for the one that starts processes for it, and what that one has started. */
const startedBy = (daemon: number): number =>
  childrenOf(daemon).flatMap(childrenOf).length + childrenOf(daemon).length - 1;

describe(`${COUNT} workspaces at once`, () => {
  it("all work, each with its own content, and all are gone after delete", async () => {
    await withInstallation(async (at) => {
      const made = await Promise.all(
        Array.from({ length: COUNT }, (_, n) =>
          at.sdk.createWorkspace({ environment: "host", name: `n${n}`, labels: { number: String(n) } }),
        ),
      );
      const ids = made.map((one) => one.workspace_id);
      expect(new Set(ids).size).toBe(COUNT);
      expect((await at.sdk.listWorkspaces()).count).toBe(COUNT);

      await Promise.all(
        ids.map((id, n) =>
          at.sdk.execWorkspace(id, { command: `hostname > who; echo content of ${n} > own-${n}.txt` }),
        ),
      );
      const seen = await Promise.all(
        ids.map((id) => at.sdk.execWorkspace(id, { command: "cat who own-*.txt; ls | wc -l" })),
      );
      expect(seen.map((one) => one.stdout)).toEqual(ids.map((id, n) => `${id}\ncontent of ${n}\n2\n`));
      const cgroups = cgroupsNaming(ids);
      expect(cgroups.length).toBeGreaterThanOrEqual(COUNT);
      const inside = new Set(
        cgroups.flatMap((path) => readFileSync(join(path, "cgroup.procs"), "latin1").split("\n").filter(Boolean)),
      );
      expect(inside.size).toBeGreaterThanOrEqual(COUNT);

      await Promise.all(ids.map((id) => at.sdk.deleteWorkspace(id)));
      expect(await at.sdk.listWorkspaces()).toEqual({ count: 0, workspaces: [] });
      expect(readdirSync(join(at.home, "workspaces"))).toEqual([]);
      expect(
        cgroupsNaming([...ids, `cloche-${createHash("sha256").update(at.home).digest("hex").slice(0, 10)}`]),
      ).toEqual([]);
      expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(at.home);
      // What was deleted is removed after the answer, by a program.
      const daemon = await pidOf(at);
      await eventually(() => expect(startedBy(daemon)).toBe(0));
      await eventually(() => expect([...inside].filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]));
    });
  });

  it("as many calls of the CLI start one daemon and all get their answer", async () => {
    await withInstallation(async (at) => {
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, n) => at.cli(["run", "--", "echo", `answer ${n}`])),
      );
      expect(answers.map(({ stdout, stderr, code }) => [stdout, stderr, code])).toEqual(
        answers.map((_, n) => [`answer ${n}\n`, "", 0]),
      );
      const log = readFileSync(join(at.home, "daemon.log"), "utf8");
      expect(log.match(/daemon listens/g)).toHaveLength(1);
      expect((await at.sdk.listWorkspaces()).count).toBe(0);
    });
  });
});

describe("a thousand commands in a row", () => {
  it("leave no descriptor, no process and no memory behind, in the daemon or in the sandbox", async () => {
    await withInstallation(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      const run = async (count: number) => {
        for (let n = 0; n < count; n++) {
          const { exit_code, stdout } = await at.sdk.execWorkspace(id, { command: ["echo", String(n)] });
          if (exit_code !== 0 || stdout !== `${n}\n`) expect.fail(`command ${n}: ${exit_code} ${stdout}`);
        }
      };
      const census =
        'for my $d ("/proc", "/proc/self/fd") { opendir(my $h, $d); print scalar(grep { /^\\d+$/ } readdir $h), "\\n" }';
      const count = async () => (await at.sdk.execWorkspace(id, { command: ["perl", "-e", census] })).stdout;
      // What was between the guest program and the last command is seen a moment longer: the lower of a few counts is without it.
      const guestState = async () => [await count(), await count(), await count()].toSorted()[0];
      const guestPid = wallPid(at.home, id);
      const inner = Number(readFileSync(`/proc/${guestPid}/task/${guestPid}/children`, "latin1").trim().split(" ")[0]);
      const pid = await pidOf(at);
      await run(300); // until the heap has its size
      const before = {
        files: openFiles(pid),
        memory: residentMib(pid),
        children: startedBy(pid),
        guest: await guestState(),
        guestFiles: openFiles(inner),
        guestMemory: residentMib(inner),
      };
      const own = readdirSync("/proc/self/fd").length;
      await run(1000);
      expect(await pidOf(at)).toBe(pid);
      expect(openFiles(pid) - before.files, "descriptors of the daemon").toBeLessThanOrEqual(2);
      expect(startedBy(pid), "children of the daemon").toBe(before.children);
      expect(residentMib(pid) - before.memory, "MiB of the daemon").toBeLessThan(30);
      expect(await guestState(), "processes and descriptors of a command").toBe(before.guest);
      expect(openFiles(inner) - before.guestFiles, "descriptors of the guest program").toBeLessThanOrEqual(1);
      expect(residentMib(inner) - before.guestMemory, "MiB of the guest program").toBeLessThan(2);
      expect(readdirSync("/proc/self/fd").length - own, "descriptors of the SDK").toBeLessThanOrEqual(2);
      expect((await at.sdk.statusWorkspace(id)).command_count).toBe(1306);
      expect(existsSync(`/proc/${inner}`)).toBe(true);
    });
  });
});
