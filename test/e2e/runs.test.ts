import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClocheEvent } from "../../src/model/event.ts";
import { BottledAgents } from "../helpers/bottled-agents.ts";
import { cliInProcess } from "../helpers/cli-in-process.ts";
import { DoorsInstallation } from "../helpers/doors.ts";
import { Installation, PROJECT, eventually, processesNaming, runProcess } from "../helpers/installation.ts";

describe("runs", () => {
  let at: Installation;
  let agents: BottledAgents;
  const sdk = () => at.sdk;

  beforeAll(async () => {
    at = new Installation("r");
    agents = new BottledAgents(at);
    await at.sdk.cleanUp(); // what earlier tests have left on this host is not this file's
  });

  afterAll(async () => {
    await at[Symbol.asyncDispose]();
  });

  const eventsOf = async (identity: string) => {
    const all: ClocheEvent[] = [];
    for await (const event of sdk().watch({ identity, since: 0, follow: false })) all.push(event);
    return all;
  };

  /** Reads until the text has come; gives all that came. */
  const until = async (output: AsyncIterator<{ data: Buffer }>, text: string) => {
    let seen = "";
    while (!seen.includes(text)) {
      const next = await output.next();
      if (next.done === true) throw new Error(`it ended without "${text}": ${seen}`);
      seen += next.value.data.toString();
    }
    return seen;
  };

  const killDaemon = async () => {
    const { pid } = await sdk().daemonStatus();
    process.kill(pid ?? 0, "SIGKILL");
  };

  describe("without a terminal", () => {
    it("keep stdout and stderr apart, end with the agent's code, and tell of themselves", async () => {
      agents.agent("apart", "echo out; echo err >&2; exit 6");
      const { identity, stdout, stderr, end } = await agents.run("apart");
      expect([stdout, stderr]).toEqual(["out\n", "err\n"]);
      const kept = { state: "ended", exit_code: 6, kept: true, reason: null, has_changes: false };
      expect(end).toEqual({ identity, ...kept });
      const { workspace_id, session_id, ended_at } = agents.metadata(identity);
      expect(session_id).toMatch(/^[0-9a-f-]{36}$/);
      expect(ended_at).not.toBeNull();
      expect(await sdk().statusWorkspace(identity)).toMatchObject({ workspace_id, state: "stopped", keep: true });
      const events = await eventsOf(identity);
      expect(events.map(({ kind }) => kind)).toEqual(
        expect.arrayContaining(["workspace.created", "run.started", "command.ended", "run.ended"]),
      );
      expect(events.at(-1)).toMatchObject({ kind: "run.ended", exit_code: 6, kept: true, workspace_id });
      expect(await sdk().cleanUp({ all: true })).toMatchObject({ removed: [{ kind: "run", identity, workspace_id }] });
      expect(agents.states()).toEqual([]);
    });

    it("are named where what leaves is asked about, also when they are gone, and so are bottles", async () => {
      const egress = { log: "all", routes: [{ host: "docs.example.test", connect: "127.0.0.1:9", ports: [80] }] };
      const ask = (host: string) =>
        `exec 3<>/dev/tcp/127.0.0.1/9099; printf "GET http://${host}/ HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n" >&3; cat <&3`;
      const script = `bash -c '${ask("docs.example.test")}'; bash -c '${ask("other.example.test")}'`;
      agents.agent("asks", `${script}; until test -e go; do sleep 0.1; done`, { bottle: { egress } });
      const check = async (about: string, url: string) => await cliInProcess(at, ["egress", "check", about, url]);
      const { identity, workspace_id } = await sdk().startRun("asks", agents.options());
      await eventually(async () =>
        expect((await cliInProcess(at, ["egress", "log", identity])).stdout).toContain("other.example.test"),
      );
      for (const about of [identity, "asks"]) {
        expect(await check(about, "http://docs.example.test/")).toMatchObject({ code: 0 });
        expect(await check(about, "http://other.example.test/")).toMatchObject({ code: 1 });
      }
      expect((await check("nothing-of-that-name", "http://a.example.test/")).stderr).toContain(
        "no workspace, no run and no bottle",
      );
      const file = at.path("more.json");
      writeFileSync(file, JSON.stringify({ routes: [{ host: "more.example.test" }] }));
      expect(await cliInProcess(at, ["egress", "set", identity, file])).toMatchObject({
        code: 0,
        stdout: "1 route in force\n",
      });
      expect(await check(identity, "http://more.example.test/")).toMatchObject({ code: 0 });
      await sdk().writeWorkspaceFile(workspace_id, "go", { text: "" });
      await eventually(() => {
        expect(agents.states()).toEqual([]);
        return Promise.resolve();
      });
      expect((await cliInProcess(at, ["egress", "log", identity])).stdout).toContain("docs.example.test");
      expect((await cliInProcess(at, ["egress", "learn", identity])).stdout).toContain("docs.example.test");
    });

    it("lose nothing of much output, whenever their client comes", async () => {
      agents.agent("much", "seq 1 200000");
      const { identity } = await sdk().startRun("much", agents.options());
      await new Promise((done) => setTimeout(done, 300));
      const { stdout, end } = await agents.follow(sdk().attachRun(identity));
      expect(stdout.split("\n").length).toBe(200_001);
      expect(stdout.endsWith("\n199999\n200000\n")).toBe(true);
      expect(end).toMatchObject({ exit_code: 0, kept: false });
      expect(agents.states()).toEqual([]);
      // Asked again, the end is still known.
      expect(await sdk().stopRun(identity)).toMatchObject({ exit_code: 0, kept: false });
    });

    it("go on when the daemon dies, and the client with them", async () => {
      agents.agent("survivor", "echo one; until test -e /workspace/go; do sleep 0.1; done; echo two; exit 3");
      const { identity, workspace_id } = await sdk().startRun("survivor", agents.options());
      const following = agents.follow(sdk().attachRun(identity));
      await eventually(async () => expect((await sdk().logsWorkspace(identity)).entries[0]?.stdout).toBe("one\n"));
      await killDaemon();
      await eventually(async () =>
        expect((await sdk().listRuns()).runs).toEqual([
          expect.objectContaining({ identity, state: "running" }) as unknown,
        ]),
      );
      await sdk().writeWorkspaceFile(workspace_id, "go", { text: "" });
      expect(await following).toMatchObject({ stdout: "one\ntwo\n", end: { exit_code: 3, kept: true } });
      expect((await eventsOf(identity)).at(-1)).toMatchObject({ kind: "run.ended", exit_code: 3 });
      await sdk().cleanUp({ all: true });
    });

    it("can be stopped, resumed and cleaned up, and are no one's to take while they work", async () => {
      agents.agent("busy", "test -e mark && exit 0; touch mark; echo up; exec sleep 1000");
      const { identity } = await sdk().startRun("busy", agents.options());
      await eventually(async () => expect((await sdk().diffWorkspace(identity)).summary.added).toBe(1));
      await expect(sdk().resumeRun(identity)).rejects.toMatchObject({ code: "RUN_ACTIVE" });
      expect(await sdk().cleanUp({ all: true })).toEqual({
        removed: [],
        kept: [expect.objectContaining({ identity, reason: "it is at work" }) as unknown],
      });
      expect(await sdk().stopRun(identity)).toMatchObject({ exit_code: 143, kept: true });
      expect(await sdk().stopRun(identity)).toMatchObject({ exit_code: 143, kept: true });
      // What was kept is reviewed as it is.
      expect((await sdk().diffWorkspace(identity)).entries).toMatchObject([{ path: "/workspace/mark" }]);
      expect((await sdk().summarizeWorkspace(identity)).changes).toMatchObject({ available: true, changed: true });
      const output_path = at.path("mark");
      await sdk().exportWorkspace(identity, "mark", { output_path });
      expect(existsSync(output_path)).toBe(true);
      expect((await sdk().statusWorkspace(identity)).state).toBe("stopped");
      await sdk().resumeRun(identity, agents.options());
      expect(await (await sdk().attachRun(identity)).result).toMatchObject({ exit_code: 0, kept: false });
      await expect(sdk().resumeRun(identity)).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    });

    it("are kept when they are stopped, whatever they make of it: a good end, or none", async () => {
      const waits = "echo up; while :; do sleep 0.1; done";
      agents.agent("polite", `test -e mark && exit 0; touch mark; trap 'exit 0' TERM; ${waits}`);
      agents.agent("deaf", `trap '' TERM INT HUP; ${waits}`);
      const [polite, deaf] = await Promise.all(
        ["polite", "deaf"].map((name) => sdk().startRun(name, agents.options())),
      );
      for (const run of [polite, deaf])
        await eventually(async () =>
          expect((await sdk().logsWorkspace(run?.identity ?? "")).entries[0]?.stdout).toBe("up\n"),
        );
      const stop = (identity = "") => cliInProcess(at, ["stop", identity]);
      // By the agent's name, or the beginning of an identity: the run that fits is named, and nothing is done to it.
      for (const verb of ["stop", "attach", "resume", "apply"]) {
        const args = verb === "apply" ? ["--dry-run"] : [];
        const named = await cliInProcess(at, [verb, verb === "resume" ? "dea" : "deaf", ...args]);
        expect([verb, named.code, named.stderr]).toEqual([
          verb,
          1,
          expect.stringContaining(`hint: Did you mean "${deaf?.identity ?? ""}"?`),
        ]);
      }
      const [good, none] = await Promise.all([stop(polite?.identity), stop(deaf?.identity)]);
      expect(good.stdout).toContain(`has ended with exit code 0; take it up with`);
      expect(none.stdout).toMatch(
        /exit code 137: it did not end within 5 seconds of being asked to, and was killed; take/,
      );
      await killDaemon();
      expect((await sdk().listRuns({ all: true })).runs.map(({ exit_code }) => exit_code).toSorted()).toEqual([0, 137]);
      await sdk().resumeRun(polite?.identity ?? "", agents.options());
      const attached = await sdk().attachRun(polite?.identity ?? "");
      expect(await attached.result).toMatchObject({ exit_code: 0, kept: false });
      await sdk().cleanUp({ all: true });
    });

    it("tell how they ended to all who stop them in that moment", async () => {
      agents.agent("over", "exit 3");
      for (let time = 0; time < 5; time++) {
        const { identity } = await sdk().startRun("over", agents.options());
        await sdk().execWorkspace(identity, { command: "true" }); // its agent has ended, and nobody has come for its output
        const ends = await Promise.all(Array.from({ length: 8 }, () => sdk().stopRun(identity)));
        for (const end of ends) expect(end).toMatchObject({ identity, exit_code: 3, kept: true, reason: null });
        expect(agents.metadata(identity)).toMatchObject({ exit_code: 3, session: null });
      }
      await sdk().cleanUp({ all: true });
    });

    it("work side by side, ten of them", async () => {
      agents.agent("many", 'echo "$$" > mine; sleep 0.5; cat mine; exit 0');
      const all = await Promise.all(Array.from({ length: 10 }, () => agents.run("many")));
      expect(all.map(({ end }) => end.exit_code)).toEqual(Array.from({ length: 10 }, () => 0));
      expect(new Set(all.map(({ identity }) => identity)).size).toBe(10);
      expect(agents.states()).toEqual([]);
    });

    it("end as they like, and are told apart: at once, by a signal, under one label, without their state", async () => {
      agents.agent("abrupt", "exit 0");
      expect((await agents.run("abrupt")).end).toMatchObject({ exit_code: 0, kept: false });
      agents.agent("abrupt", "kill -SEGV $$");
      expect((await agents.run("abrupt")).end).toMatchObject({ exit_code: 139, kept: true });
      agents.agent("abrupt", "until test -e go; do sleep 0.1; done; exit 4");
      const label = { label: "night shift" };
      const [one, two] = await Promise.all([
        sdk().startRun("abrupt", agents.options(label)),
        sdk().startRun("abrupt", agents.options(label)),
      ]);
      expect(one.identity).not.toBe(two.identity);
      expect((await sdk().listRuns()).runs.map((run) => run.label)).toEqual(["night shift", "night shift"]);
      rmSync(join(at.home, "state", one.identity), { recursive: true });
      const ends = [one, two].map(async ({ identity }) => (await sdk().attachRun(identity)).result);
      for (const { identity } of [one, two]) await sdk().writeWorkspaceFile(identity, "go", { text: "" });
      for (const end of await Promise.all(ends)) expect(end).toMatchObject({ exit_code: 4, kept: true });
      expect(agents.metadata(one.identity)).toMatchObject({ exit_code: 4, label: "night shift" });
      await sdk().cleanUp({ all: true });
    });

    it("end with the workspace that somebody resets or deletes under them", async () => {
      agents.agent("held", "exec sleep 1000");
      const reset = await sdk().startRun("held", agents.options());
      const deleted = await sdk().startRun("held", agents.options());
      const ends = [reset, deleted].map(async ({ identity }) => (await sdk().attachRun(identity)).result);
      await sdk().resetWorkspace(reset.identity);
      await sdk().deleteWorkspace(deleted.identity);
      expect(await Promise.all(ends)).toMatchObject([
        { kept: true, state: "ended" },
        { kept: false, state: "ended" },
      ]);
      expect(agents.states()).toEqual([reset.identity]);
      // Without its workspace there is nothing to take up.
      await sdk().deleteWorkspace(reset.identity);
      expect(agents.states()).toEqual([]);
    });
  });

  describe("at a terminal", () => {
    const size = { cols: 90, rows: 20 };
    const sit = async (identity: string, cursor?: number) => {
      const stream = await sdk().attachRun(identity, { terminal: size, cursor });
      return { stream, output: stream.output()[Symbol.asyncIterator]() };
    };

    it("take keys and sizes, are left and found again, also by the next daemon", async () => {
      agents.agent("shell", 'stty size; while read -r line; do echo "got $line"; done; exit 7');
      const { identity } = await sdk().startRun("shell", agents.options({ headless: false, terminal: size }));
      const first = await sit(identity, 0);
      await until(first.output, "20 90");
      await first.stream.write("hello\r");
      await until(first.output, "got hello");
      first.stream.endInput();
      expect(await first.stream.result).toMatchObject({ state: "running" });
      await killDaemon();
      const second = await sit(identity);
      expect(await until(second.output, "got hello")).toContain("hello");
      await second.stream.resize({ cols: 40, rows: 10 });
      await second.stream.write("again\r");
      await until(second.output, "got again");
      await second.stream.write("\x04");
      expect(await second.stream.result).toMatchObject({ exit_code: 7, kept: true });
      await sdk().cleanUp({ all: true });
    });

    it("end by `cloche stop` though they are shells, which ignore being asked to", async () => {
      agents.agent("prompt", 'PS1="ready$ " exec /bin/sh -i');
      const { identity } = await sdk().startRun("prompt", agents.options({ headless: false, terminal: size }));
      await until((await sit(identity, 0)).output, "ready$");
      expect(await sdk().stopRun(identity)).toMatchObject({ exit_code: 129, kept: true, reason: null });
      await sdk().cleanUp({ all: true });
    });

    it("get Ctrl-C as a signal, and a screen of one character", async () => {
      agents.agent("tiny", "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.1; done");
      const one = { cols: 1, rows: 1 };
      const { identity } = await sdk().startRun("tiny", agents.options({ headless: false, terminal: one }));
      const { stream, output } = await sit(identity, 0);
      await until(output, "ready");
      await stream.write("\x03");
      await until(output, "caught");
      expect(await stream.result).toMatchObject({ exit_code: 5 });
      await sdk().cleanUp({ all: true });
    });

    it("go on when their terminal is closed under the command, and are attached to again", async () => {
      agents.agent("closed", 'stty -echo; echo ready; while read -r line; do echo "got $line"; done; exit 7');
      const start = `exec node ${PROJECT}/dist/cli/main.js start closed --backend container --yes`;
      const window = spawn("script", ["-qec", start, "/dev/null"], { env: at.env, cwd: at.root, stdio: "pipe" });
      let shown = "";
      window.stdout.on("data", (data: Buffer) => (shown += data.toString()));
      await eventually(() => expect(shown).toContain("ready"));
      const [identity = ""] = agents.states();
      const closed = new Promise((done) => window.once("exit", done));
      window.kill("SIGKILL"); // who held the other end of the terminal is gone, as when a window is closed
      await closed;
      await eventually(() => expect(processesNaming("main.js start closed")).toEqual([]));
      expect((await sdk().listRuns()).runs).toMatchObject([{ identity, state: "running" }]);
      const { stream, output } = await sit(identity, 0);
      await until(output, "ready");
      await stream.write("again\r");
      await until(output, "got again");
      await stream.write("\x04");
      expect(await stream.result).toMatchObject({ exit_code: 7, kept: true });
      await sdk().cleanUp({ all: true });
    });

    it("are started, asked about and left by the command, on a real one", async () => {
      agents.agent("typed", 'printf "I am %s\\n" "$(tty)"; test -t 0 && test -t 1 && exit 4');
      const start = `node ${PROJECT}/dist/cli/main.js start typed --backend container`;
      const on = (input: string) =>
        runProcess("script", ["-qec", start, "/dev/null"], { env: at.env, cwd: at.root, input });
      const declined = await on("n\n");
      expect(declined.code).toBe(1);
      expect(declined.stdout).toContain("Nothing was started");
      expect(agents.states()).toEqual([]);
      const agreed = await on("y\n");
      expect(agreed.stdout).toMatch(/I am \/dev\/pts\/\d+/);
      expect(agreed.code).toBe(4);
      const [identity = ""] = agents.states();
      expect(agreed.stdout).toContain(`resume ${identity}`);
      await sdk().cleanUp({ all: true });
    });
  });

  describe("are refused", () => {
    it("G-67 before anything is made: a skill that is missing, a link out, too large", async () => {
      agents.agent("skilled", "ls -R ~/.cloche/skills", { keys: { skills: ["good", "bad"] } });
      agents.skill("good", { "SKILL.md": "# good\n" });
      const start = () => sdk().startRun("skilled", agents.options());
      await expect(start()).rejects.toMatchObject({
        code: "SKILL_NOT_FOUND",
        message: expect.stringContaining("bad") as unknown,
      });
      const elsewhere = at.path("elsewhere");
      mkdirSync(elsewhere);
      symlinkSync(elsewhere, join(agents.skills, "bad"));
      await expect(start()).rejects.toMatchObject({ code: "SKILL_INVALID" });
      rmSync(join(agents.skills, "bad"));
      const folder = agents.skill("bad");
      symlinkSync("../../elsewhere", join(folder, "out"));
      await expect(start()).rejects.toMatchObject({
        code: "SKILL_INVALID",
        message: expect.stringContaining("out") as unknown,
      });
      rmSync(join(folder, "out"));
      symlinkSync("SKILL.md", join(folder, "inside"));
      for (let file = 0; file < 10_000; file++) writeFileSync(join(folder, `f${file}`), "");
      const { stdout, end } = await agents.run("skilled");
      expect(end.exit_code).toBe(0);
      expect(stdout.split("\n").filter((line) => /^f\d+$/.test(line)).length).toBe(10_000);
      writeFileSync(join(folder, "large"), "");
      truncateSync(join(folder, "large"), 300 * 1024 * 1024);
      await expect(start()).rejects.toMatchObject({ code: "SKILL_INVALID" });
      expect([agents.states(), (await sdk().listWorkspaces()).count]).toEqual([[], 0]);
    });

    it("when the program is not there, with its name, and leave nothing", async () => {
      agents.agent("absent", "", { bottle: {} });
      const bottle = join(at.home, "bottles/absent.md");
      const provider = JSON.stringify({ template: "command", settings: { argv: ["no-such-program"] } });
      writeFileSync(bottle, `---\nenvironment: host\nagent_provider: ${provider}\n---\n`);
      for (const more of [{}, { headless: false, terminal: { cols: 80, rows: 24 } }])
        await expect(sdk().startRun("absent", agents.options(more))).rejects.toMatchObject({
          code: "AGENT_PROGRAM_NOT_FOUND",
          message: expect.stringContaining("no-such-program") as unknown,
        });
      expect([agents.states(), (await sdk().listWorkspaces()).count]).toEqual([[], 0]);
    });

    it("G-69 when their state is broken, newer, of another backend or without its workspace; and a clean-up knows them all", async () => {
      agents.agent("failing", "exit 1");
      const { identity } = await agents.run("failing");
      const kept = agents.metadata(identity);
      const resume = () => sdk().resumeRun(identity, agents.options());
      const write = (text: string) => writeFileSync(agents.stateFile(identity), text);
      write("{");
      await expect(resume()).rejects.toMatchObject({ code: "RUN_STATE_INVALID" });
      expect(await sdk().cleanUp({ dry_run: true })).toMatchObject({
        removed: [],
        kept: [{ kind: "state", identity }],
      });
      write(JSON.stringify({ ...kept, version: 2 }));
      await expect(resume()).rejects.toMatchObject({
        code: "RUN_STATE_INVALID",
        hint: expect.stringContaining("newer") as unknown,
      });
      write(JSON.stringify({ ...kept, backend: "no-such-backend" }));
      await expect(resume()).rejects.toMatchObject({ code: "BACKEND_NOT_FOUND" });
      write(JSON.stringify({ ...kept, identity: "another-12345" }));
      await expect(resume()).rejects.toMatchObject({ code: "RUN_STATE_INVALID" });
      rmSync(agents.stateFile(identity));
      await expect(resume()).rejects.toMatchObject({ code: "RUN_STATE_INVALID" });
      rmSync(join(at.home, "state", identity), { recursive: true });
      await expect(resume()).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
      // Its workspace is ours, and nobody else's.
      const other = await sdk().createWorkspace({
        backend: "container",
        environment: "host",
        name: "mine",
        keep: true,
      });
      const orphan = { kind: "workspace", identity, workspace_id: kept.workspace_id, backend: "container" };
      expect(await sdk().cleanUp({ dry_run: true })).toEqual({
        removed: [expect.objectContaining(orphan) as unknown],
        kept: [],
      });
      expect(await sdk().cleanUp()).toMatchObject({ removed: [orphan], kept: [] });
      expect(await sdk().cleanUp()).toEqual({ removed: [], kept: [] });
      expect((await sdk().listWorkspaces()).workspaces).toMatchObject([{ workspace_id: other.workspace_id }]);
      await sdk().deleteWorkspace(other.workspace_id);
    });
  });

  it("G-69 are cleaned up with their own workspace, whichever one their state names", async () => {
    agents.agent("failing", "exit 1");
    const { identity } = await agents.run("failing");
    const { workspace_id: own } = agents.metadata(identity);
    const created = { backend: "container", environment: "host", name: "unrelated", keep: true };
    const alike = await sdk().createWorkspace({ ...created, name: "alike", idempotency_key: "run/tester-12345" });
    const { workspace_id: unrelated } = await sdk().createWorkspace(created);
    writeFileSync(
      agents.stateFile(identity),
      JSON.stringify({ ...agents.metadata(identity), workspace_id: unrelated }),
    );
    expect(await sdk().cleanUp()).toMatchObject({ removed: [], kept: [{ identity, workspace_id: own }] });
    expect(await sdk().cleanUp({ all: true })).toMatchObject({ removed: [{ identity, workspace_id: own }], kept: [] });
    const left = (await sdk().listWorkspaces()).workspaces.map(({ workspace_id: id }) => id);
    expect(left.toSorted()).toEqual([alike.workspace_id, unrelated].toSorted());
    for (const id of left) await sdk().deleteWorkspace(id);
  });

  it("find their workspace, their home and their files again when they are resumed", async () => {
    agents.agent(
      "again",
      "if test -e ~/note; then cat ~/note mark; exit 0; fi; echo home > ~/note; echo ws > mark; exit 2",
      {
        prompt: "Be good.\n",
      },
    );
    const { identity } = await agents.run("again");
    await sdk().resumeRun(identity, agents.options());
    const { stdout, end } = await agents.follow(sdk().attachRun(identity));
    expect([stdout, end.exit_code]).toEqual(["home\nws\n", 0]);
  });

  it("are forked, exported and reviewed by their identity while they work", async () => {
    agents.agent("busy", "echo one >made; echo ready; while :; do date +%N >>ticks; sleep 0.05; done");
    const { identity } = await sdk().startRun("busy", agents.options({ copy_cwd: true }));
    await eventually(async () => expect((await sdk().logsWorkspace(identity)).entries[0]?.stdout).toBe("ready\n"));
    const ticks = async (id: string) => (await sdk().readWorkspaceFile(id, "ticks")).content.split("\n").length;
    const { workspace_id: fork } = await sdk().forkWorkspace(identity);
    const atFork = await ticks(fork);
    const output_path = at.path("exported");
    await sdk().exportWorkspace(identity, "made", { output_path });
    expect(readFileSync(output_path, "utf8")).toBe("one\n");
    expect((await sdk().diffWorkspace(identity)).entries.map(({ path }) => path)).toContain("/workspace/made");
    await eventually(async () => expect(await ticks(identity)).toBeGreaterThan(atFork));
    // The fork has the files of the moment, and no agent.
    expect(await ticks(fork)).toBe(atFork);
    expect((await sdk().listRuns()).runs.map((run) => run.identity)).toEqual([identity]);
    await sdk().deleteWorkspace(fork);
    await sdk().stopRun(identity);
    await sdk().cleanUp({ all: true });
  });

  it("are listed together, whichever backend each is on", async () => {
    agents.agent("here", "exec sleep 1000");
    agents.agent("there", "exec sleep 1000", { bottle: { environment: "debian:12" } });
    const one = await sdk().startRun("here", agents.options());
    const other = await sdk().startRun("there", agents.options({ backend: "vm" }));
    const { stdout } = await at.cli(["list", "active", "--json"]);
    const { count, runs } = JSON.parse(stdout) as { count: number; runs: { identity: string; backend: string }[] };
    expect([count, Object.fromEntries(runs.map((run) => [run.identity, run.backend]))]).toEqual([
      2,
      { [one.identity]: "container", [other.identity]: "vm" },
    ]);
    for (const { identity } of [one, other]) await sdk().stopRun(identity);
    await sdk().cleanUp({ all: true });
  });

  it("G-147 can be committed, at work or not, and others begin with that, which their notes say", async () => {
    const script =
      "cat ~/note mark 2>/dev/null; echo home >> ~/note; ln -sf /etc/hostname ~/link; echo ws >> mark; until test -e go; do sleep 0.1; done; exit 0";
    agents.agent("frozen", script, { prompt: "Be good.\n" });
    const project = at.path("frozen-project");
    mkdirSync(project);
    writeFileSync(join(project, "seed"), "seed\n");
    const seeded = agents.options({ copy_cwd: true, project_path: project });
    await expect(sdk().startRun("frozen", agents.options({ from: "nobody-12345" }))).rejects.toMatchObject({
      code: "RUN_NOT_FOUND",
    });
    const { identity, workspace_id: id } = await sdk().startRun("frozen", seeded);
    const following = agents.follow(sdk().attachRun(identity));
    await eventually(async () => expect((await sdk().diffWorkspace(identity)).summary.added).toBe(1));
    const from = { ...seeded, copy_cwd: false, from: identity };
    await expect(sdk().startRun("frozen", from)).rejects.toMatchObject({ code: "RUN_NOT_COMMITTED" });
    const { committed_at: first } = await sdk().commitRun(identity);
    expect(agents.metadata(identity).committed_at).toBe(first);
    // What it does later is not in it.
    await sdk().writeWorkspaceFile(identity, "late", { text: "" });
    await sdk().writeWorkspaceFile(identity, "go", { text: "" });
    expect((await following).end).toMatchObject({ exit_code: 0, kept: true, has_changes: true });
    expect((await sdk().listRuns({ all: true })).runs).toMatchObject([{ identity, committed_at: first }]);
    const second = await sdk().startRun("frozen", from);
    expect(second).toMatchObject({ backend: "container", environment: "host", committed_at: null });
    await eventually(async () => {
      const { entries } = await sdk().diffWorkspace(second.identity);
      expect(entries.map(({ path }) => path)).toEqual(["/workspace/mark"]);
    });
    const again = agents.follow(sdk().attachRun(second.identity));
    const seen = await sdk().execWorkspace(second.identity, {
      command: "cat seed ~/note ~/.cloche/prompt.txt; readlink ~/link",
    });
    expect(seen.stdout).toBe("seed\nhome\nhome\nBe good.\n/etc/hostname\n");
    await sdk().writeWorkspaceFile(second.identity, "go", { text: "" });
    expect(await again).toMatchObject({ stdout: "home\nws\n", end: { exit_code: 0, kept: false, has_changes: true } });
    // One that has ended is committed too, in the place of the first commit.
    const { committed_at: later } = await sdk().commitRun(identity);
    expect(later).toBeGreaterThan(first ?? 0);
    expect((await sdk().listSnapshots(id)).count).toBe(2);
    const asked = { project_path: project, from: identity };
    const planned = await sdk().planRun("frozen", asked);
    expect(planned.plan).toMatchObject({ backend: "container", environment: "host" });
    expect(planned.notes).toContainEqual(expect.stringContaining(`begins with what ${identity} has left`));
    await expect(sdk().planRun("frozen", { ...asked, backend: "docker" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    // The home of a run goes with its state.
    await sdk().cleanUp({ all: true });
    expect(agents.states()).toEqual([]);
  });

  it("keep their doors when the gate is killed", async () => {
    const doors = new DoorsInstallation(at);
    const ask = 'curl -s -o /dev/null -w "%{http_code}\\n" http://unlisted.example.test/';
    agents.agent("gated", `${ask}; until test -e go; do sleep 0.1; done; ${ask}`);
    const { identity, workspace_id } = await sdk().startRun("gated", agents.options());
    const following = agents.follow(sdk().attachRun(identity));
    await eventually(async () => expect((await sdk().logsWorkspace(identity)).entries[0]?.stdout).toBe("403\n"));
    const before = doors.gate(workspace_id);
    process.kill(before?.gate ?? 0, "SIGKILL");
    await eventually(() => expect(doors.gate(workspace_id)?.gate).not.toBe(before?.gate));
    await eventually(async () => expect((await sdk().execWorkspace(identity, { command: ask })).stdout).toBe("403\n"));
    await sdk().writeWorkspaceFile(identity, "go", { text: "" });
    expect(await following).toMatchObject({ stdout: "403\n403\n", end: { exit_code: 0 } });
    await doors.sdk.close();
  });
});
