import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually, Installation, PROJECT } from "../helpers/installation.ts";
import { killDaemon } from "../helpers/running-daemon.ts";

let at: Installation;
beforeAll(() => {
  at = new Installation("habits");
  writeFileSync(join(at.home, "config.yaml"), "grace_seconds: 3\n");
});
afterAll(() => at[Symbol.asyncDispose]());

const create = async (name: string, options = {}) =>
  (await at.sdk.createWorkspace({ environment: "host", name, ...options })).workspace_id;

/** A call of the CLI at a terminal: types each of the keys when what comes before them is shown; resolves to all that was shown, and the exit code. */
async function atTerminal(args: readonly string[], typed: readonly (readonly [shown: string, keys: string])[]) {
  const words = [process.execPath, join(PROJECT, "dist/cli/main.js"), ...args].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qefc", `stty rows 33 cols 99; exec ${words}`, "/dev/null"], { env: at.env });
  let shown = "";
  const left = [...typed];
  child.stdout.on("data", (chunk: Buffer) => {
    shown += chunk.toString().replaceAll("\r", "");
    const [next] = left;
    if (next === undefined || !shown.includes(next[0])) return;
    left.shift();
    child.stdin.write(next[1]);
  });
  const [code] = (await once(child, "close")) as [number];
  return { code, shown };
}

describe("when its time is over, a workspace", () => {
  it("with changes is kept for its grace, says so, and is deleted then with a word", async () => {
    const id = await create("held");
    await at.sdk.execWorkspace(id, { command: "echo kept > kept" });
    await at.sdk.updateWorkspace(id, { ttl_seconds: 0.5 });
    await eventually(async () => expect((await at.sdk.statusWorkspace(id)).state).toBe("expired"));
    const { deletes_at, expires_at } = await at.sdk.statusWorkspace("held");
    expect(Number(deletes_at) - Number(expires_at)).toBeCloseTo(3);
    await expect(at.sdk.execWorkspace(id, { command: "true" })).rejects.toThrow(/is expired: .*; it is deleted at /);
    await eventually(async () => expect((await at.sdk.listWorkspaces()).count).toBe(0));
    await eventually(() =>
      expect(at.sdk.statusWorkspace(id)).rejects.toThrow(/: it was deleted by its time to live at \d{4}-/),
    );
    const told = (await at.cli(["events", "held", "--json"])).json() as {
      events: { kind: string; because?: string }[];
    };
    expect(told.events.slice(-2)).toMatchObject([
      { kind: "workspace.expired", deletes_at },
      { kind: "workspace.deleted", because: "expired", name: "held" },
    ]);
  });

  it("that is kept stays, also after a new daemon, until it is let go", async () => {
    const id = await create("kept", { ttl_seconds: 0.5, keep: true });
    await killDaemon(at);
    await new Promise((done) => setTimeout(done, 1200)); // twice its time: nothing tells of what does not happen
    expect(await at.sdk.statusWorkspace(id)).toMatchObject({ state: "started", keep: true, expires_at: null });
    expect((await at.cli(["ls"])).stdout).toMatch(/never/);
    const letGo = await at.cli(["ws", "update", "kept", "--no-keep", "--json"]);
    expect(letGo.json()).toMatchObject({ keep: false, ttl_seconds: 0.5 });
    await eventually(async () => expect((await at.sdk.listWorkspaces()).count).toBe(0));
  });

  it("with a shell, a service or a command goes on, and its time begins with the end of these", async () => {
    const ids = await Promise.all(["shell", "service", "command"].map((name) => create(name)));
    const [shell = "", service = "", command = ""] = ids;
    const { shell_id: shellId } = await at.sdk.openShell(shell);
    await at.sdk.startService(service, "runs", { command: "sleep 600" });
    const { sequence } = await at.sdk.startCommand(command, { command: "sleep 600" });
    const begun = Date.now() / 1000;
    for (const id of ids) await at.sdk.updateWorkspace(id, { ttl_seconds: 0.5 });
    // Each is looked at more than once, and found to be at work.
    for (const id of ids)
      await eventually(async () =>
        expect((await at.sdk.statusWorkspace(id)).last_activity_at).toBeGreaterThan(begun + 1.2),
      );
    await killDaemon(at);
    for (const id of ids) expect((await at.sdk.statusWorkspace(id)).state).toBe("started");
    await at.sdk.writeShell(shell, shellId, { input: "exit" });
    await at.sdk.stopService(service, "runs");
    await at.sdk.signalCommand(command, sequence);
    await eventually(async () => expect((await at.sdk.listWorkspaces()).count).toBe(0));
  });

  it("that was stopped without changes is deleted, one that was stopped with some is kept", async () => {
    const [clean, changed] = [await create("clean"), await create("changed")];
    await at.sdk.writeWorkspaceFile(changed, "f", { text: "x" });
    for (const id of [clean, changed]) {
      await at.sdk.stopWorkspace(id);
      await at.sdk.updateWorkspace(id, { ttl_seconds: 0.5 });
    }
    await eventually(async () => expect((await at.sdk.statusWorkspace(changed)).state).toBe("expired"));
    await eventually(async () =>
      expect(await at.sdk.statusWorkspace(clean).catch((error: unknown) => String(error))).toContain("time to live"),
    );
    await killDaemon(at);
    expect((await at.sdk.startWorkspace("changed")).state).toBe("started");
    expect((await at.sdk.readWorkspaceFile(changed, "f")).content).toBe("x");
    await at.sdk.deleteWorkspace("changed");
  });
});

describe("a name", () => {
  it("is as good as an id; one that two have is refused with both ids", async () => {
    const id = await create("twin");
    expect((await at.cli(["ws", "exec", "twin", "hostname"])).stdout).toBe(`${id}\n`);
    const other = (await at.sdk.forkWorkspace("twin", { name: "twin" })).workspace_id;
    const refused = await at.cli(["ws", "status", "twin"]);
    expect(refused.code).toBe(1);
    for (const one of [id, other]) expect(refused.stderr).toContain(one);
    const gone = await at.cli(["rm", id, "nobody", other, "--json"]);
    expect(gone.code).toBe(1);
    expect(gone.json()).toMatchObject({
      count: 2,
      failed: [{ workspace: "nobody", error: { code: "WORKSPACE_NOT_FOUND" } }],
    });
    expect((await at.cli(["ws", "status", "twin"])).stderr).toMatch(/of that name was deleted at .* by delete/);
  });
});

describe("all of them", () => {
  it("are listed by their ids and deleted with --all, which asks who sits at a terminal", async () => {
    const ids = [await create("a"), await create("b")];
    expect((await at.cli(["ps", "-q"])).stdout.trim().split("\n").toSorted()).toEqual(ids.toSorted());
    expect((await at.cli(["rm", "--all"])).stderr).toContain("Give --yes");
    const left = await atTerminal(["rm", "--all"], [["[y/N]", "n\r"]]);
    expect(left).toMatchObject({ code: 1, shown: expect.stringContaining("Nothing was deleted") as string });
    expect((await at.sdk.listWorkspaces()).count).toBe(2);
    const done = await atTerminal(["rm", "--all"], [["[y/N]", "y\r"]]);
    expect(done.code).toBe(0);
    for (const id of ids) expect(done.shown).toContain(`Deleted ${id}`);
    expect((await at.cli(["ls", "-q"])).stdout).toBe("");
  });
});

describe("at a terminal", () => {
  let id: string;
  beforeAll(async () => {
    id = await create("desk");
  });
  afterAll(() => at.sdk.deleteWorkspace(id));

  it("exec -it is a shell that says where one is", async () => {
    const { code, shown } = await atTerminal(
      ["ws", "exec", "-it", "-e", "GIVEN=yes", "desk", "sh"],
      [
        ["desk $ ", "stty size; echo $GIVEN-$((1+1)); cat\r"],
        ["yes-2\n", "typed\r"],
        ["typed\ntyped\n", "\u0004"],
        ["typed\ntyped\ndesk $ ", "exit 7\r"],
      ],
    );
    expect(shown).toContain("33 99");
    expect(code).toBe(7);
  });

  it("the only shell is found again, and of two both are told", async () => {
    const { shell_id: first } = await at.sdk.openShell(id);
    expect((await at.sdk.listShells("desk")).shells).toMatchObject([{ shell_id: first, state: "running" }]);
    const { shell_id: second } = await at.sdk.openShell(id);
    const both = await atTerminal(["ws", "shell", "attach", "desk"], []);
    for (const shell of [first, second]) expect(both.shown).toContain(shell);
    expect(both.code).toBe(1);
    await at.sdk.closeShell(id, first);
    const only = await atTerminal(["ws", "shell", "attach", "desk"], [["desk $ ", "exit 5\r"]]);
    expect([only.code, only.shown]).toEqual([5, expect.stringContaining(`${second} has ended`)]);
    await eventually(async () => expect((await at.sdk.statusWorkspace(id)).shell_count).toBe(0));
    expect((await at.cli(["ws", "shell", "ls", "desk"])).stdout).toMatch(/exited 5/);
    await at.sdk.closeShell(id, second);
  });

  it("a command in the background is in the journal while it runs, outlives the daemon, and can be ended", async () => {
    const started = await at.cli(["ws", "exec", "-d", "desk", "--", "sh", "-c", "echo begun; exec sleep 600"]);
    const sequence = started.stdout.split("\n")[0] ?? "";
    expect(started.stdout).toContain(`workspace kill ${id} ${sequence}`);
    await eventually(async () =>
      expect((await at.cli(["ws", "logs", "desk"])).stdout).toMatch(/begun\n\[number \d+, running/),
    );
    await killDaemon(at);
    expect((await at.cli(["ws", "kill", "desk", sequence])).code).toBe(0);
    await eventually(async () =>
      expect((await at.sdk.logsWorkspace(id)).entries.at(-1)).toMatchObject({
        state: "done",
        exit_code: 143,
        stdout: "begun\n",
      }),
    );
    expect((await at.cli(["ws", "kill", "desk", sequence])).stderr).toContain("is not running");
  });
});

describe("run", () => {
  it("takes a command without dashes, tells an environment from it, and helps with one that is both", async () => {
    expect((await at.cli(["run", "echo", "-n", "hi"])).stdout).toBe("hi");
    expect((await at.cli(["run", "host", "echo", "there"])).stdout).toBe("there\n");
    expect((await at.cli(["run", "-i", "cat"], { input: "in" })).stdout).toBe("in");
    expect((await at.cli(["run", "host"])).stderr).toContain("`cloche run -- host`");
    expect((await at.sdk.listWorkspaces()).count).toBe(0);
  });
});
