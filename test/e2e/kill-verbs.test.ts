import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually, Installation } from "../helpers/installation.ts";
import { cgroupsNaming } from "../helpers/cgroups.ts";
import { killDaemon } from "../helpers/running-daemon.ts";

/** When the daemon dies, as parts of the time that the verb takes. */
const MOMENTS = [0.05, 0.35, 0.65, 0.95];

let at: Installation;
const ids = new Set<string>();
beforeAll(() => {
  at = new Installation("kv");
  mkdirSync(at.path("out"));
  mkdirSync(at.path("big"));
  for (let n = 0; n < 600; n++) writeFileSync(join(at.path("big"), `f${n}`), `${n}\n`.repeat(200));
});
afterAll(() => at[Symbol.asyncDispose]());

async function create(): Promise<string> {
  const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
  ids.add(id);
  return id;
}
const sh = async (id: string, command: string) => (await at.sdk.execWorkspace(id, { command })).stdout;
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/**
 * Runs a verb to its end once, to see how long it takes; then again with the daemon killed at each moment. A check of what the guest program was
 * about has to wait for it: it learns of the end of its connection, and finishes or undoes its work, in its own time.
 */
async function killDuring(
  verb: (attempt: number) => Promise<unknown>,
  check: (outcome: PromiseSettledResult<unknown>, attempt: number) => Promise<void>,
  prepare: (attempt: number) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  await prepare(0);
  const began = performance.now();
  const [first] = await Promise.allSettled([verb(0)]);
  const duration = performance.now() - began;
  expect(first.status, first.status === "rejected" ? String(first.reason) : "").toBe("fulfilled");
  await check(first, 0);
  for (const [nth, moment] of MOMENTS.entries()) {
    const attempt = nth + 1;
    await prepare(attempt);
    const running = Promise.allSettled([verb(attempt)]);
    await pause(duration * moment);
    await killDaemon(at);
    const [outcome] = await running;
    if (outcome.status === "rejected") {
      const { code } = outcome.reason as { code?: string };
      expect(
        ["DAEMON_UNREACHABLE", "SNAPSHOT_EXISTS", "SERVICE_EXISTS", "WORKSPACE_NOT_FOUND"],
        String(outcome.reason),
      ).toContain(code);
    }
    const { workspaces } = await at.sdk.listWorkspaces();
    for (const one of workspaces) {
      ids.add(one.workspace_id);
      expect(["started", "stopped"], `${one.workspace_id}: ${one.state_reason}`).toContain(one.state);
      if (one.state === "started") expect(await sh(one.workspace_id, "echo works")).toBe("works\n");
    }
    await check(outcome, attempt);
  }
}

/** After everything is deleted nothing is left that anything made. */
async function expectNothingLeft(): Promise<void> {
  for (const { workspace_id: id } of (await at.sdk.listWorkspaces()).workspaces) await at.sdk.deleteWorkspace(id);
  for (const folder of ["workspaces", "layers", "scratch"])
    expect(existsSync(join(at.home, folder)) ? readdirSync(join(at.home, folder)) : [], folder).toEqual([]);
  await eventually(() => expect(cgroupsNaming([...ids]), "cgroups").toEqual([]));
  ids.clear();
}

describe("kill -9 of the daemon in the middle of", () => {
  it("create: a workspace that works, or none", async () => {
    await killDuring(
      () => at.sdk.createWorkspace({ environment: "host" }),
      async () => {
        const { workspaces } = await at.sdk.listWorkspaces();
        const folders = existsSync(join(at.home, "workspaces")) ? readdirSync(join(at.home, "workspaces")) : [];
        expect(folders.sort()).toEqual(workspaces.map((one) => one.workspace_id).sort());
      },
    );
    await expectNothingLeft();
  });

  it("exec: it runs to its end, once, and the journal has it whole", async () => {
    const id = await create();
    let answered = 0;
    await killDuring(
      () => at.sdk.execWorkspace(id, { command: "echo x >> ran; sleep 0.4; echo done" }),
      async (outcome, attempt) => {
        if (outcome.status === "fulfilled") answered += 1;
        await eventually(async () => {
          const { entries } = await at.sdk.logsWorkspace(id);
          const own = entries.filter((one) => String(one.command).includes(">> ran"));
          // One that the daemon had written down and not begun when it died is lost, and has not run.
          const done = own.filter((one) => one.state !== "lost");
          expect(done.map((one) => [one.state, one.stdout])).toEqual(done.map(() => ["done", "done\n"]));
          expect((await sh(id, "wc -l < ran")).trim()).toBe(String(done.length));
          expect(done.length, "what was answered is there").toBeGreaterThanOrEqual(answered);
          expect(own.length, "nothing ran twice").toBeLessThanOrEqual(attempt + 1);
        });
      },
    );
    await expectNothingLeft();
  });

  it("file write and patch: the old content or the new, nothing beside", async () => {
    const id = await create();
    const text = (n: number) => `${n}\n`.repeat(2_000_000);
    await killDuring(
      (n) => at.sdk.writeWorkspaceFile(id, "big", { text: text(n) }),
      async (_outcome, n) => {
        await eventually(async () => {
          const sums = await sh(id, "sort big | uniq -c | tr -s ' '; ls -A");
          expect([n, n - 1].map((one) => `2000000 ${one}\nbig\n`)).toContain(sums);
        });
      },
    );
    await sh(id, "rm big; for i in $(seq 300); do echo 0 > f$i; done");
    const patch = (from: number, to: number) =>
      Array.from({ length: 300 }, (_, n) => `--- a/f${n + 1}\n+++ b/f${n + 1}\n@@ -1 +1 @@\n-${from}\n+${to}\n`).join(
        "",
      );
    let now = 0;
    await killDuring(
      (n) => at.sdk.applyWorkspacePatch(id, { patch: patch(now, n + 10) }),
      async (_outcome, n) => {
        await eventually(async () => {
          const [line = "", ...rest] = (await sh(id, "cat f* | sort | uniq -c; ls -A | wc -l")).trim().split("\n");
          const [count, value] = line.trim().split(" ");
          expect([count, rest], "all or nothing").toEqual(["300", ["300"]]);
          expect([now, n + 10]).toContain(Number(value));
          now = Number(value);
        });
      },
    );
    await expectNothingLeft();
  });

  it("sync push: the whole tree or nothing of it", async () => {
    const id = await create();
    await killDuring(
      (n) => at.sdk.pushWorkspaceSync(id, at.path("big"), { dest: `to${n}` }),
      async (_outcome, n) => {
        await eventually(async () => {
          const [names, count] = (await sh(id, `ls -A | sort | tr '\\n' ' '; echo; ls to${n} 2>/dev/null | wc -l`))
            .trimEnd()
            .split("\n");
          expect(["0", "600"]).toContain(count?.trim());
          expect(names, "nothing beside").toMatch(/^(to\d )*$/);
        });
      },
    );
    await expectNothingLeft();
  });

  it("diff, export and shell read: they can be asked again; an export is whole or not there, and nothing is beside it", async () => {
    const id = await create();
    await at.sdk.pushWorkspaceSync(id, at.path("big"), { dest: "tree" });
    await killDuring(
      () => at.sdk.diffWorkspace(id),
      async () => expect((await at.sdk.diffWorkspace(id)).summary.added).toBe(600),
    );
    const out = (n: number) => join(at.path("out"), `tree${n}`);
    await killDuring(
      (n) => at.sdk.exportWorkspace(id, "tree", { output_path: out(n) }),
      (_outcome, n) => {
        const names = readdirSync(at.path("out"));
        expect(
          names.filter((name) => !/^tree\d$/.test(name)),
          "scratch",
        ).toEqual([]);
        if (existsSync(out(n))) expect(readdirSync(out(n))).toHaveLength(600);
        return Promise.resolve();
      },
    );
    const { shell_id: shell } = await at.sdk.openShell(id);
    await killDuring(
      async (n) => {
        await at.sdk.writeShell(id, shell, { input: `echo n-$((${n}+100))` });
        return await at.sdk.readShell(id, shell, { wait_for_idle_ms: 300 });
      },
      async (outcome, n) => {
        // Quiet may come before the shell has got to it, on a machine that is busy.
        if (outcome.status === "fulfilled")
          await eventually(async () => expect((await at.sdk.readShell(id, shell)).output).toContain(`n-${n + 100}`));
        expect((await at.sdk.readShell(id, shell)).state).toBe("running");
      },
    );
    await expectNothingLeft();
  });

  it("snapshot, reset and fork: the old state or the new, each exactly", async () => {
    const id = await create();
    await at.sdk.pushWorkspaceSync(id, at.path("big"), { dest: "tree" });
    const count = (one: string) => sh(one, "ls tree 2>/dev/null | wc -l; ls -A");
    await killDuring(
      (n) => at.sdk.createSnapshot(id, `s${n}`),
      async () => {
        for (const { snapshot_name: name } of (await at.sdk.listSnapshots(id)).snapshots.slice(-1)) {
          const fork = await at.sdk.forkWorkspace(id, { snapshot: name });
          ids.add(fork.workspace_id);
          expect(await count(fork.workspace_id)).toBe("600\ntree\n");
          await at.sdk.deleteWorkspace(fork.workspace_id);
        }
        expect(await count(id)).toBe("600\ntree\n");
      },
    );
    await killDuring(
      () => at.sdk.resetWorkspace(id, { snapshot: "s0" }),
      async (outcome) => {
        const names = (await count(id)).trim().split("\n");
        expect([
          ["600", "tree"],
          ["600", "mark", "tree"],
        ]).toContainEqual(names);
        if (outcome.status === "fulfilled") expect(names).toHaveLength(2);
        expect(readdirSync(join(at.home, "workspaces", id))).toHaveLength(1);
        const { entries } = await at.sdk.logsWorkspace(id);
        expect(entries.map((one) => one.sequence)).toEqual(entries.map((_, nth) => nth + 1));
        expect(entries.every((one) => one.state === "done")).toBe(true);
      },
      async () => {
        await sh(id, "touch mark");
      },
    );
    await killDuring(
      () => at.sdk.forkWorkspace(id),
      async () => {
        for (const one of (await at.sdk.listWorkspaces()).workspaces)
          expect(await count(one.workspace_id)).toMatch(/^600\n(mark\n)?tree\n$/);
        const kept = (await at.sdk.listWorkspaces()).workspaces.map((one) => one.workspace_id).sort();
        expect(readdirSync(join(at.home, "workspaces")).sort()).toEqual(kept);
      },
    );
    await expectNothingLeft();
  });

  it("service start: running, or ended and nothing of it left", async () => {
    const id = await create();
    await killDuring(
      (n) =>
        at.sdk.startService(id, `s${n}`, {
          command: `sleep 0.3; touch r${n}; exec sleep 77${n}`,
          readiness: { type: "file", path: `r${n}` },
        }),
      async (outcome, n) => {
        const found = (await at.sdk.listServices(id)).services.find((one) => one.service_name === `s${n}`);
        if (outcome.status === "fulfilled") expect(found?.state).toBe("running");
        else expect(["failed", "running", undefined]).toContain(found?.state);
        const running = found?.state === "running";
        await eventually(async () =>
          expect((await sh(id, `pgrep -fc '[s]leep 77${n}'; pgrep -fc '[t]ouch r${n}'`)).split("\n")).toEqual([
            running ? "1" : "0",
            "0",
            "",
          ]),
        );
        if (running) expect(await at.sdk.stopService(id, `s${n}`)).toMatchObject({ state: "stopped" });
      },
    );
    await expectNothingLeft();
  });

  it("stop, start and delete: one state or the other, and the files are there or gone with it", async () => {
    const id = await create();
    await sh(id, "echo kept > f");
    const read = async () =>
      (await at.sdk.statusWorkspace(id)).state === "stopped"
        ? (await at.sdk.readWorkspaceDisk(id, "f")).content
        : await sh(id, "cat f");
    await killDuring(
      () => at.sdk.stopWorkspace(id),
      async () => expect(await read()).toBe("kept\n"),
      async () => {
        await at.sdk.startWorkspace(id);
      },
    );
    await killDuring(
      () => at.sdk.startWorkspace(id),
      async () => expect(await read()).toBe("kept\n"),
      async () => {
        await at.sdk.stopWorkspace(id);
      },
    );
    const doomed: string[] = [];
    await killDuring(
      (n) => at.sdk.deleteWorkspace(doomed[n] ?? ""),
      async (outcome, n) => {
        const names = (await at.sdk.listWorkspaces()).workspaces.map((one) => one.workspace_id);
        if (outcome.status === "fulfilled") expect(names).not.toContain(doomed[n]);
        expect(readdirSync(join(at.home, "workspaces")).sort()).toEqual(names.sort());
      },
      async (n) => void (doomed[n] = await create()),
    );
    await expectNothingLeft();
  });
});
