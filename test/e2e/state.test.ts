import { chmodSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually, Installation, runProcess, withInstallation } from "../helpers/installation.ts";
import { guestPids } from "../helpers/running-daemon.ts";

const failing = (code: string, words = "") =>
  expect.objectContaining({ code, message: expect.stringContaining(words) as string }) as Error;

let at: Installation;
let seed: string;
beforeAll(async () => {
  at = new Installation("st");
  seed = at.path("seed");
  await runProcess("sh", [
    "-c",
    `mkdir -p ${seed}/dir; echo base > ${seed}/a; echo base > ${seed}/dir/b; ln -s a ${seed}/l`,
  ]);
});
afterAll(() => at[Symbol.asyncDispose]());

async function create(options: Parameters<Installation["sdk"]["createWorkspace"]>[0] = {}): Promise<string> {
  return (await at.sdk.createWorkspace({ environment: "host", seed_path: seed, ...options })).workspace_id;
}
const sh = async (id: string, command: string): Promise<string> => {
  const { stdout, stderr, exit_code: code } = await at.sdk.execWorkspace(id, { command });
  expect({ stderr, code }, command).toEqual({ stderr: "", code: 0 });
  return stdout;
};
/** Every name, type, mode, link target and content below /workspace. */
const treeOf = (id: string) =>
  sh(id, "find . -mindepth 1 -printf '%p %y %m %l\\n' | sort; find . -type f -print0 | sort -z | xargs -0r sha256sum");
const layerNames = () => (existsSync(join(at.home, "layers")) ? readdirSync(join(at.home, "layers")) : []);
const remove = (id: string) => at.sdk.deleteWorkspace(id);

describe("snapshots", () => {
  it("a name that is reserved, taken, too long or a path is refused and makes no layer", async () => {
    const id = await create();
    await sh(id, "echo x > x");
    await at.sdk.createSnapshot(id, "one");
    const before = layerNames();
    for (const [name, code] of [
      ["baseline", "SNAPSHOT_EXISTS"],
      ["one", "SNAPSHOT_EXISTS"],
      ["x".repeat(65), "INVALID_ARGUMENT"],
      ["../x", "INVALID_ARGUMENT"],
      ["", "INVALID_ARGUMENT"],
      ["a b", "INVALID_ARGUMENT"],
    ] as const)
      await expect(at.sdk.createSnapshot(id, name), name).rejects.toThrow(failing(code));
    await expect(at.sdk.deleteSnapshot(id, "baseline")).rejects.toThrow(failing("INVALID_ARGUMENT"));
    await expect(at.sdk.deleteSnapshot(id, "nothing")).rejects.toThrow(failing("SNAPSHOT_NOT_FOUND", '"nothing"'));
    await expect(at.sdk.resetWorkspace(id, { snapshot: "nothing" })).rejects.toThrow(failing("SNAPSHOT_NOT_FOUND"));
    await expect(at.sdk.forkWorkspace(id, { snapshot: "nothing" })).rejects.toThrow(failing("SNAPSHOT_NOT_FOUND"));
    const { snapshots } = await at.sdk.listSnapshots(id);
    expect(snapshots.map((one) => [one.snapshot_name, one.kind])).toEqual([
      ["baseline", "baseline"],
      ["one", "named"],
    ]);
    expect(layerNames()).toEqual(before);
    expect(await sh(id, "cat x"), "a refused reset left the sandbox").toBe("x\n");
    await remove(id);
  });

  it("is taken while a writer runs: the writer goes on, and what was there before is in it whole", async () => {
    const id = await create();
    await sh(id, "mkdir many; for i in $(seq 200); do echo $i > many/$i; done");
    const writing = at.sdk.execWorkspace(id, {
      command:
        "i=0; while [ ! -e stop ]; do i=$((i+1)); echo $i > churn.$((i%50)); mv churn.$((i%50)) moved.$((i%50)); rm -f moved.$(((i+25)%50)); done; echo $i",
      timeout_seconds: 60,
    });
    await eventually(async () => expect(await sh(id, "ls | grep -c moved || true")).not.toBe("0\n"));
    for (const name of ["s1", "s2", "s3"]) await at.sdk.createSnapshot(id, name);
    await at.sdk.writeWorkspaceFile(id, "stop", { text: "" });
    expect((await writing).exit_code).toBe(0);
    for (const name of ["s1", "s3"]) {
      await at.sdk.resetWorkspace(id, { snapshot: name });
      expect(await sh(id, "cat many/* | sort -n | tail -n 1; ls many | wc -l; test -e stop || echo running")).toBe(
        "200\n200\nrunning\n",
      );
    }
    await remove(id);
  });

  it("chains of edits, snapshots and resets give each tree back exactly, also when one in the middle is deleted", async () => {
    const id = await create();
    const trees = new Map<string, string>([["baseline", await treeOf(id)]]);
    const step = async (name: string, command: string) => {
      await sh(id, command);
      trees.set(name, await treeOf(id));
      await at.sdk.createSnapshot(id, name);
    };
    await step("s1", "echo one > a; mkdir -p new/deep; echo n > new/deep/f; chmod 750 new; rm dir/b");
    await at.sdk.resetWorkspace(id, { snapshot: "s1" });
    await step("s2", "rm -r dir; ln -sfn new l; echo two >> a; mv new/deep/f new/g; echo x > 'odd name'");
    await at.sdk.resetWorkspace(id, { snapshot: "s2" });
    await step("s3", "rm -r new; echo file > new; mkdir dir; echo again > dir/b; chmod 600 a");
    await at.sdk.resetWorkspace(id, { snapshot: "s1" });
    await step("s4", "echo other > b2; rm a");
    for (const name of ["s3", "baseline", "s2", "s4", "s1", "s3"]) {
      await at.sdk.resetWorkspace(id, { snapshot: name });
      expect(await treeOf(id), name).toBe(trees.get(name));
    }
    await at.sdk.deleteSnapshot(id, "s2"); // s3 stands on it, and so does the sandbox now
    await at.sdk.deleteSnapshot(id, "s3");
    expect(await treeOf(id)).toBe(trees.get("s3"));
    await sh(id, "echo more > more");
    await at.sdk.createSnapshot(id, "s5");
    await at.sdk.resetWorkspace(id, { snapshot: "s1" });
    await at.sdk.resetWorkspace(id, { snapshot: "s5" });
    expect(
      (await treeOf(id))
        .split("\n")
        .filter((line) => !/more/.test(line))
        .join("\n"),
    ).toBe(trees.get("s3"));
    const diff = await at.sdk.diffWorkspace(id);
    expect(diff.entries.map(({ path, status }) => `${status} ${path.slice(11)}`)).toEqual([
      "modified a",
      "modified dir/b",
      "modified l",
      "added more",
      "added new",
      "added odd name",
    ]);
    await at.sdk.resetWorkspace(id);
    expect((await at.sdk.diffWorkspace(id)).changed).toBe(false);
    await remove(id);
    expect(layerNames()).toEqual([]);
  });
});

describe("forks", () => {
  it("of live and of a snapshot are apart from their parent, and either outlives the other", async () => {
    const id = await create({ name: "parent", labels: { k: "v" } });
    await sh(id, "echo snap > a");
    await at.sdk.createSnapshot(id, "s");
    await sh(id, "echo live > a; echo t > /tmp/outside");
    const live = await at.sdk.forkWorkspace(id, { name: "live" });
    const snap = await at.sdk.forkWorkspace(id, { snapshot: "s" });
    const inner = await at.sdk.forkWorkspace(live.workspace_id);
    expect(live).toMatchObject({ name: "live", state: "started", reset_count: 0, command_count: 0 });
    const identity =
      "hostname; cat /etc/machine-id; head -c 16 /dev/urandom | sha256sum; cat /proc/sys/kernel/random/uuid";
    const lines = await Promise.all(
      [id, live.workspace_id, snap.workspace_id, inner.workspace_id].map(async (one) =>
        (await sh(one, identity)).split("\n"),
      ),
    );
    for (const nth of [0, 1, 2, 3]) expect(new Set(lines.map((one) => one[nth])).size, `line ${nth}`).toBe(4);
    expect(lines[1]?.[0]).toBe(live.workspace_id);
    expect(await sh(live.workspace_id, "cat a; ls /tmp")).toBe("live\n");
    await sh(live.workspace_id, "echo forked > a");
    expect(await sh(id, "cat a")).toBe("live\n");
    await remove(id);
    expect(await sh(live.workspace_id, "cat a dir/b")).toBe("forked\nbase\n");
    expect(await sh(snap.workspace_id, "cat a dir/b")).toBe("snap\nbase\n");
    await at.sdk.resetWorkspace(snap.workspace_id); // its baseline is the parent's
    expect(await sh(snap.workspace_id, "cat a")).toBe("base\n");
    await remove(live.workspace_id);
    expect(await sh(inner.workspace_id, "cat a dir/b")).toBe("live\nbase\n");
    for (const one of [snap, inner]) await remove(one.workspace_id);
    expect(layerNames()).toEqual([]);
  });

  it("a fork that goes first leaves its parent as it was", async () => {
    const id = await create();
    await sh(id, "echo live > a");
    const fork = await at.sdk.forkWorkspace(id);
    await remove(fork.workspace_id);
    expect(await sh(id, "cat a; echo on > a; cat a")).toBe("live\non\n");
    expect(layerNames()).toEqual([]);
    await remove(id);
  });
});

describe("reset", () => {
  it("during a command ends it with SANDBOX_LOST that says so; the new session knows nothing of it", async () => {
    const id = await create();
    await sh(id, "true");
    const running = at.sdk.execWorkspace(id, { command: "echo old; sleep 50; echo never", timeout_seconds: 60 });
    running.catch(() => undefined);
    const streamed = (async () => {
      const seen: unknown[] = [];
      for await (const event of at.sdk.streamWorkspace(id, { command: "echo hello; sleep 50", timeout_seconds: 60 }))
        seen.push(event);
      return seen;
    })();
    streamed.catch(() => undefined);
    const { shell_id } = await at.sdk.openShell(id);
    const waiting = at.sdk.readShell(id, shell_id, { wait_for_idle_ms: 600_000 });
    waiting.catch(() => undefined);
    await eventually(async () => expect((await at.sdk.statusWorkspace(id)).command_count).toBe(3));
    await at.sdk.resetWorkspace(id);
    await expect(running).rejects.toThrow(failing("SANDBOX_LOST", "the workspace was reset"));
    await expect(streamed).rejects.toThrow(failing("SANDBOX_LOST", "the workspace was reset"));
    await expect(waiting).rejects.toThrow(failing("SANDBOX_LOST", "the workspace was reset"));
    expect((await at.sdk.logsWorkspace(id)).entries).toEqual([]);
    expect(await at.sdk.execWorkspace(id, { command: "echo new" })).toMatchObject({ sequence: 1, stdout: "new\n" });
    const { entries } = await at.sdk.logsWorkspace(id);
    expect(entries.map((one) => [one.sequence, one.command, one.state, one.exit_code])).toEqual([
      [1, "echo new", "done", 0],
    ]);
    await remove(id);
  });

  it("two at once are one after the other, and both count", async () => {
    const id = await create();
    await sh(id, "echo s > a");
    await at.sdk.createSnapshot(id, "s");
    const [toBase, toSnapshot, toBaseAgain] = await Promise.all([
      at.sdk.resetWorkspace(id),
      at.sdk.resetWorkspace(id, { snapshot: "s" }),
      at.sdk.resetWorkspace(id),
      at.sdk.createSnapshot(id, "after"),
    ]);
    // Which one comes first is chance: each has a connection of its own.
    const counts = [toBase, toSnapshot, toBaseAgain].map((one) => one.reset_count);
    expect(counts.toSorted()).toEqual([1, 2, 3]);
    expect(await sh(id, "cat a")).toBe(toSnapshot.reset_count === 3 ? "s\n" : "base\n");
    expect(readdirSync(join(at.home, "workspaces", id))).toEqual(["g4"]);
    await remove(id);
  });

  it("that cannot start its sandbox leaves the old one as it was", async () => {
    await withInstallation(async (own) => {
      const runtime = own.path("runtime");
      writeFileSync(runtime, '#!/bin/sh\nexec runc "$@"\n');
      for (const path of [own.root, runtime]) chmodSync(path, 0o755);
      const { workspace_id: id } = await own.sdk.createWorkspace({ environment: "host", oci_runtime: runtime });
      const { sequence } = await own.sdk.execWorkspace(id, { command: "echo kept > /tmp/mark; echo kept > file" });
      expect(sequence).toBe(1);
      writeFileSync(runtime, "#!/bin/sh\necho broken runtime >&2; exit 3\n");
      await expect(own.sdk.resetWorkspace(id)).rejects.toThrow(failing("SANDBOX_START_FAILED", "broken runtime"));
      await expect(own.sdk.forkWorkspace(id)).rejects.toThrow(failing("SANDBOX_START_FAILED", "broken runtime"));
      expect(await own.sdk.statusWorkspace(id)).toMatchObject({ state: "started", reset_count: 0, command_count: 1 });
      expect((await own.sdk.execWorkspace(id, { command: "cat /tmp/mark file" })).stdout).toBe("kept\nkept\n");
      expect(readdirSync(join(own.home, "workspaces"))).toEqual([id]);
      expect(readdirSync(join(own.home, "workspaces", id))).toEqual(["g1"]);
      await own.sdk.stopWorkspace(id);
      await expect(own.sdk.startWorkspace(id)).rejects.toThrow(failing("SANDBOX_START_FAILED", "broken runtime"));
      expect((await own.sdk.statusWorkspace(id)).state).toBe("stopped");
      writeFileSync(runtime, '#!/bin/sh\nexec runc "$@"\n');
      await own.sdk.startWorkspace(id);
      expect((await own.sdk.execWorkspace(id, { command: "cat file" })).stdout).toBe("kept\n");
      await own.sdk.deleteWorkspace(id);
      expect(readdirSync(join(own.home, "layers")), "the fork's layer").toEqual([]);
    });
  });
});

describe("stop, start, disk", () => {
  it("a sandbox that was killed, not stopped, starts again over its files, and again", async () => {
    const id = await create();
    for (const turn of ["one", "two"]) {
      await sh(id, `echo ${turn} >> a; grep -q fsync=volatile /proc/mounts`);
      for (const pid of guestPids(at.home, id)) process.kill(pid, "SIGKILL");
      await eventually(async () => expect((await at.sdk.statusWorkspace(id)).state).toBe("failed"));
      await at.sdk.startWorkspace(id);
    }
    expect(await sh(id, "cat a")).toBe("base\none\ntwo\n");
    await remove(id);
  });

  it("stop keeps /workspace and nothing else; disk verbs read it; start, reset and fork go on from it", async () => {
    const id = await create();
    await sh(
      id,
      "echo kept > a; rm dir/b; mkdir -p new/deep; echo x > new/deep/f; ln -s /etc/passwd away; echo t > /tmp/t; (setsid sleep 600 > /dev/null 2>&1 &)",
    );
    for (const refused of [
      at.sdk.listWorkspaceDisk(id),
      at.sdk.readWorkspaceDisk(id, "a"),
      at.sdk.exportWorkspaceDisk(id, { output_path: at.path("early") }),
    ])
      await expect(refused).rejects.toThrow(failing("WORKSPACE_NOT_STOPPED"));
    const lost = at.sdk.execWorkspace(id, { command: "sleep 50", timeout_seconds: 60 });
    lost.catch(() => undefined);
    await eventually(async () => expect((await at.sdk.statusWorkspace(id)).command_count).toBe(2));
    expect(await at.sdk.stopWorkspace(id)).toMatchObject({ state: "stopped" });
    await expect(lost).rejects.toThrow(failing("SANDBOX_LOST", "stopped"));
    expect(await at.sdk.stopWorkspace(id)).toMatchObject({ state: "stopped" });
    await expect(at.sdk.execWorkspace(id, { command: "true" })).rejects.toThrow(
      failing("WORKSPACE_NOT_RUNNING", "stopped"),
    );

    const { entries } = await at.sdk.listWorkspaceDisk(id, { recursive: true });
    expect(entries.map((one) => one.path.slice(11)).sort()).toEqual([
      "a",
      "away",
      "dir",
      "l",
      "new",
      "new/deep",
      "new/deep/f",
    ]);
    expect((await at.sdk.readWorkspaceDisk(id, "a")).content).toBe("kept\n");
    await expect(at.sdk.readWorkspaceDisk(id, "away")).rejects.toThrow(failing("PATH_OUTSIDE_WORKSPACE"));
    await expect(at.sdk.readWorkspaceDisk(id, "../../etc/passwd")).rejects.toThrow(failing("PATH_OUTSIDE_WORKSPACE"));
    const tar = at.path("disk.tar");
    expect(await at.sdk.exportWorkspaceDisk(id, { output_path: tar })).toMatchObject({ format: "tar" });
    expect((await runProcess("tar", ["-xOf", tar, "--wildcards", "*new/deep/f"])).stdout).toBe("x\n");
    await expect(at.sdk.exportWorkspaceDisk(id, { output_path: tar })).rejects.toThrow(failing("OUTPUT_EXISTS"));
    const image = at.path("disk.ext4");
    await at.sdk.exportWorkspaceDisk(id, { output_path: image, format: "ext4" });
    const shown = await runProcess("debugfs", ["-R", "cat /new/deep/f", image], {
      env: { PATH: "/usr/sbin:/usr/bin:/sbin" },
    });
    expect(shown.stdout).toBe("x\n");
    expect(readdirSync(at.root).sort(), "nothing beside").toEqual(["disk.ext4", "disk.tar", "h", "seed"]);

    const fork = await at.sdk.forkWorkspace(id);
    expect(fork.state).toBe("started");
    expect(await sh(fork.workspace_id, "cat a; ls /tmp")).toBe("kept\n");
    await at.sdk.createSnapshot(id, "asleep");
    expect(await at.sdk.startWorkspace(id)).toMatchObject({ state: "started" });
    expect(await sh(id, "cat a new/deep/f; ls /tmp; pgrep -c sleep || true")).toBe("kept\nx\n0\n");
    const logged = (await at.sdk.logsWorkspace(id)).entries.map((one) => [one.sequence, one.state]);
    expect(logged).toEqual([
      [1, "done"],
      [2, "lost"],
      [3, "done"],
    ]);
    await at.sdk.stopWorkspace(id);
    await at.sdk.resetWorkspace(id); // brings it up
    expect(await at.sdk.statusWorkspace(id)).toMatchObject({ state: "started", reset_count: 1, command_count: 0 });
    expect(await sh(id, "cat a dir/b")).toBe("base\nbase\n");
    await at.sdk.resetWorkspace(id, { snapshot: "asleep" });
    expect(await sh(id, "cat a")).toBe("kept\n");
    for (const one of [id, fork.workspace_id]) await remove(one);
    expect(layerNames()).toEqual([]);
  });
});

describe("the end of a workspace", () => {
  it("does not come while a command, an export or a service's start is under way, and comes when all is quiet", async () => {
    // Longer than any way from one call to the next takes, on a machine that is busy.
    const id = await create({ ttl_seconds: 3, grace_seconds: 0 });
    expect((await at.sdk.execWorkspace(id, { command: "sleep 4; echo over" })).stdout).toBe("over\n");
    await sh(id, "true"); // its end was activity
    await expect(
      at.sdk.startService(id, "slow", {
        command: "sleep 4; touch ready; sleep 600",
        readiness: { type: "file", path: "ready" },
      }),
    ).resolves.toMatchObject({ state: "running" });
    await at.sdk.stopService(id, "slow");
    await eventually(async () =>
      expect((await at.sdk.listWorkspaces()).workspaces.map((one) => one.workspace_id)).not.toContain(id),
    );
    await expect(at.sdk.execWorkspace(id, { command: "true" })).rejects.toThrow(failing("WORKSPACE_NOT_FOUND"));
  });

  it("in the middle of a service's start, wherever that is: the start ends with what became of the workspace, and nothing is left", async () => {
    // Many times: a service is "starting" before its program runs and after.
    for (let round = 0; round < 20; round++) {
      const id = await create();
      const starting = at.sdk.startService(id, "never", {
        command: "sleep 600",
        readiness: { type: "file", path: "never" },
        ready_timeout_seconds: 600,
      });
      starting.catch(() => undefined);
      await eventually(async () => expect((await at.sdk.listServices(id)).services[0]?.state).toBe("starting"));
      await remove(id);
      await expect(starting).rejects.toThrow(failing("SANDBOX_LOST", "the workspace was deleted"));
      expect(existsSync(join(at.home, "workspaces", id))).toBe(false);
    }
  });
});
