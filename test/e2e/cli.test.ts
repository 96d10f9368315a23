import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { EnvironmentDetail, EnvironmentList } from "../../src/model/environment.ts";
import type { Journal } from "../../src/model/exec.ts";
import type { DaemonStatus } from "../../src/model/health.ts";
import type { Workspace } from "../../src/model/workspace.ts";
import { cliInProcess } from "../helpers/cli-in-process.ts";
import { eventually, type Installation, PROJECT, runProcess, withInstallation } from "../helpers/installation.ts";
import { installProgram } from "../helpers/installed-program.ts";
import { useSandbox } from "../helpers/sandbox.ts";

const PROGRAM = join(PROJECT, "dist/cli/main.js");
const { version } = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8")) as { version: string };

/** A call of the CLI that goes on while the test does something. */
class Call {
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  stdout = "";
  stderr = "";
  #wake: () => void = () => undefined;

  constructor(at: Installation, args: readonly string[]) {
    this.process = spawn(process.execPath, [PROGRAM, ...args], { env: at.env, stdio: "pipe" });
    this.process.stdout?.on("data", (chunk: Buffer) => {
      this.stdout += chunk.toString();
      this.#wake();
    });
    this.process.stderr?.on("data", (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.ended = new Promise((done) => this.process.once("close", done));
  }

  /** Resolves once that much was printed. */
  async printed(text: string): Promise<void> {
    while (!this.stdout.includes(text)) await new Promise<void>((done) => (this.#wake = done));
  }
}

describe("workspace exec", () => {
  const box = useSandbox("cli");
  const exec = (...command: string[]) => ["workspace", "exec", box.id, "--", ...command];

  it("shows output as it comes and passes input on as it is given", async () => {
    const call = new Call(
      box.at,
      exec("sh", "-c", "echo first; read line; echo got $line >&2; read line; echo then $line"),
    );
    await call.printed("first\n");
    expect(call.stdout).toBe("first\n");
    call.process.stdin?.write("one\n");
    call.process.stdin?.write("two\n");
    await call.printed("then two\n");
    expect(await call.ended).toBe(0);
    expect(call.stderr).toBe("got one\n");
  });

  it("carries 5 MB of any bytes in and out unchanged", async () => {
    const bytes = randomBytes(5_000_000);
    writeFileSync(box.at.path("in"), bytes);
    const script = `cat "$IN" | "$NODE" "$PROGRAM" workspace exec "$ID" -- cat | tee "$OUT" | sha256sum`;
    const { stdout, stderr } = await runProcess("sh", ["-c", script], {
      env: {
        ...box.at.env,
        IN: box.at.path("in"),
        OUT: box.at.path("out"),
        NODE: process.execPath,
        PROGRAM,
        ID: box.id,
      },
    });
    expect(stderr).toBe("");
    expect(stdout.split(" ")[0]).toBe(createHash("sha256").update(bytes).digest("hex"));
    expect(readFileSync(box.at.path("out")).equals(bytes)).toBe(true);
  });

  it("passes Ctrl-C on: the command gets INT and the exit code is 130", async () => {
    const call = new Call(box.at, exec("sh", "-c", "echo ready; exec sleep 55.25"));
    await call.printed("ready");
    call.process.kill("SIGINT");
    expect(await call.ended).toBe(130);
    expect((await box.sh("pgrep -fc 'sleep 55[.]25'")).stdout.trim()).toBe("0");
  });

  it("lets the command decide what Ctrl-C does", async () => {
    const call = new Call(
      box.at,
      exec("sh", "-c", "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.05; done"),
    );
    await call.printed("ready");
    call.process.kill("SIGINT");
    expect(await call.ended).toBe(9);
    expect(call.stdout).toContain("caught");
  });

  it("ends the command when the reader goes away", async () => {
    const env = installProgram(box.at);
    const { stdout, code } = await runProcess(
      "bash",
      ["-c", `cloche workspace exec ${box.id} -- yes | head -n 2; echo \${PIPESTATUS[0]}`],
      { env },
    );
    expect({ stdout, code }).toEqual({ stdout: "y\ny\n141\n", code: 0 });
    await eventually(async () => expect((await box.sh("pgrep -xc yes")).stdout.trim()).toBe("0"));
  });

  it("takes the exit code of the command: its own, 127 for none, 128+n for a signal, also with --json", async () => {
    for (const [command, code] of [
      ["exit 42", 42],
      ["exec /nonexistent", 127],
      ["kill -TERM $$", 143],
      ["kill -KILL $$", 137],
    ] as const) {
      expect((await box.at.cli(exec("sh", "-c", command))).code, command).toBe(code);
    }
    const json = await box.at.cli(["--json", ...exec("sh", "-c", "echo out; echo err >&2; exit 42")]);
    expect(json.json()).toMatchObject({
      exit_code: 42,
      stdout: "out\n",
      stderr: "err\n",
      timed_out: false,
      command: ["sh", "-c", "echo out; echo err >&2; exit 42"],
    });
    expect(json).toMatchObject({ code: 42, stderr: "" });
    const timed = await box.at.cli(["workspace", "exec", box.id, "--timeout-seconds", "0.5", "--", "sleep", "60"]);
    expect(timed.code).not.toBe(0);
    expect(timed.stderr).toBe("note: the command was ended after 0.5 s; --timeout-seconds gives it longer\n");
  });

  it("takes the first characters of an id wherever an id goes", async () => {
    const prefix = box.id.slice(0, 6);
    expect((await box.at.cli(["ws", "exec", prefix, "--", "echo", "found"])).stdout).toBe("found\n");
    expect((await box.at.cli(["ws", "status", prefix, "--json"])).json()).toMatchObject({ workspace_id: box.id });
  });

  it("gives the command a terminal with --tty, of the size of ours", async () => {
    const env = installProgram(box.at);
    const { stdout } = await runProcess(
      "script",
      [
        "-qec",
        `stty cols 101 rows 37; cloche workspace exec ${box.id} -t -- sh -c 'test -t 0 && test -t 1 && stty size'`,
        "/dev/null",
      ],
      { env, input: "" },
    );
    expect(stdout.trim()).toMatch(/37 101\b/);
  });
});

describe("workspace verbs", () => {
  const box = useSandbox("verb");
  const ws = async (...args: string[]) => await box.at.cli(["workspace", ...args]);

  it("update sets and removes name and labels", async () => {
    const update = async (...args: string[]) =>
      (await ws("update", box.id, "--json", ...args)).json() as unknown as Workspace;
    expect(await update("--name", "first", "--label", "team=web", "--label", "draft=yes=no")).toMatchObject({
      name: "first",
      labels: { team: "web", draft: "yes=no" },
    });
    expect(await update("--label", "team=core", "--clear-label", "draft")).toMatchObject({
      name: "first",
      labels: { team: "core" },
    });
    expect(await update("--name", "", "--clear-label", "team", "--clear-label", "never-was")).toMatchObject({
      name: null,
      labels: {},
    });
    expect((await ws("update", box.id, "--name", "shown", "--label", "a=b")).stdout).toMatch(
      /name +shown\n[^]*labels +a=b\n/,
    );
    expect((await ws("list")).stdout).toMatch(new RegExp(`^ID .*\\n${box.id}  shown  started  host`));
  });

  it("logs has every command with its output, for people and as JSON", async () => {
    const { workspace_id: id } = await box.at.sdk.createWorkspace({ environment: "host" });
    expect(await ws("logs", id)).toMatchObject({ code: 0, stdout: "", stderr: "No commands yet\n" });
    await ws("exec", id, "--", "sh", "-c", "echo out; echo err >&2");
    await ws("exec", id, "--", "false");
    const human = (await ws("logs", id)).stdout;
    expect(human.replaceAll(/\d+ m?s/g, "TIME")).toBe(
      "$ sh -c 'echo out; echo err >&2'\nout\nerr\n[exit 0, TIME]\n$ false\n[exit 1, TIME]\n",
    );
    const { entries } = (await ws("logs", id, "--json")).json() as unknown as Journal;
    expect(entries).toMatchObject([
      {
        sequence: 1,
        state: "done",
        exit_code: 0,
        stdout: "out\n",
        stderr: "err\n",
        command: ["sh", "-c", "echo out; echo err >&2"],
      },
      { sequence: 2, state: "done", exit_code: 1, stdout: "", command: ["false"] },
    ]);
    expect((await ws("status", id, "--json")).json()).toMatchObject({ command_count: 2 });
    await box.at.sdk.deleteWorkspace(id);
  });

  it("file write takes a file or standard input, list shows it, read gives it back byte for byte", async () => {
    const text = "grün\r\nno end";
    writeFileSync(box.at.path("source"), text);
    expect((await ws("file", "write", box.id, "a/from-file.txt", "--text-file", box.at.path("source"))).stdout).toBe(
      "Wrote 13 bytes to /workspace/a/from-file.txt\n",
    );
    await box.at.cli(["workspace", "file", "write", box.id, "a/from-stdin.txt", "--text-file", "-"], { input: text });
    for (const name of ["from-file", "from-stdin"])
      expect((await ws("file", "read", box.id, `a/${name}.txt`, "--content-only")).stdout).toBe(text);
    expect((await ws("file", "list", box.id, "a")).stdout).toBe(
      "TYPE  SIZE  PATH\nfile  13 B  /workspace/a/from-file.txt\nfile  13 B  /workspace/a/from-stdin.txt\n",
    );
    expect((await box.sh("cat a/from-stdin.txt; stat -c '%U %a' a a/from-stdin.txt")).stdout).toBe(
      `${text}agent 755\nagent 644\n`,
    );
  });

  it("create --id-only prints the id alone; list is newest activity first; delete is final", async () => {
    const made = await ws("create", "--id-only", "--name", "brief");
    expect(made).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/^ws-[0-9a-z]{10}\n$/) as string });
    const id = made.stdout.trim();
    const order = async () => (await box.at.sdk.listWorkspaces()).workspaces.map((one) => one.workspace_id);
    expect(await order()).toEqual([id, box.id]);
    await ws("exec", box.id, "--", "true");
    expect(await order()).toEqual([box.id, id]);
    expect((await ws("delete", id, "--json")).json()).toEqual({ workspace_id: id, deleted: true });
    expect((await ws("delete", id)).code).toBe(1);
    expect(existsSync(join(box.at.home, "workspaces", id))).toBe(false);
  });

  it("env list and env inspect tell the environments, for people and as JSON", async () => {
    const list = (await box.at.cli(["env", "list", "--json"])).json() as unknown as EnvironmentList;
    // Files of machines that others used are in the shared cache too.
    expect(list.environments.map((one) => one.name).slice(0, 3)).toEqual(["host", "debian:12", "debian:12-build"]);
    expect(list.count).toBe(list.environments.length);
    const host = (await box.at.cli(["env", "inspect", "host", "--json"])).json() as unknown as EnvironmentDetail;
    expect(host).toMatchObject({ name: "host", state: "warm", packages: [] });
    expect(host.host_paths).toContain("/usr");
    expect(host.host_paths.some((path) => /^\/(home|root|etc|var|tmp|run)?$/.test(path))).toBe(false);
    expect((await box.at.cli(["env", "list"])).stdout).toMatch(/^NAME +STATE +SIZE +BUILT +DESCRIPTION\nhost +warm /);
  });
});

describe("the program", () => {
  it("shows help for every command there is, on stdout, exit 0, without a daemon", async () => {
    await withInstallation(async (at) => {
      let count = 0;
      const visit = async (words: string[]): Promise<void> => {
        const call = (args: string[]) => (words.length < 2 ? at.cli(args) : cliInProcess(at, args));
        const [human, json] = await Promise.all([call([...words, "--help"]), call([...words, "--help", "--json"])]);
        expect(human, words.join(" ")).toMatchObject({
          code: 0,
          stderr: "",
          stdout: expect.stringContaining(`Usage: ${["cloche", ...words].join(" ")}`) as string,
        });
        expect(json.code).toBe(0);
        count += 1;
        for (const { name } of json.json()["commands"] as { name: string }[]) await visit([...words, name]);
      };
      await visit([]);
      expect(count).toBeGreaterThan(25);
      expect(await at.cli(["--version"])).toMatchObject({ code: 0, stdout: `cloche ${version}\n`, stderr: "" });
      expect((await at.cli(["--version", "--json"])).json()).toEqual({ version });
      expect(readdirSync(at.home)).toEqual([]);
    });
  });

  it("has every command in the built program", async () => {
    const parts = readdirSync(join(PROJECT, "dist/cli")).filter((name) => /^bundled-.*\.js$/.test(name));
    expect(parts.length).toBeGreaterThan(25);
    const script = "for (const part of process.argv.slice(1)) await import(part);";
    const paths = parts.map((name) => join(PROJECT, "dist/cli", name));
    const { code, stderr } = await runProcess(process.execPath, ["--input-type=module", "-e", script, ...paths]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it("has colour on a terminal, and none with NO_COLOR or in a pipe", async () => {
    await withInstallation(async (at) => {
      const env = installProgram(at);
      const onTerminal = async (more: NodeJS.ProcessEnv) =>
        (
          await runProcess(
            "script",
            ["-qec", "stty cols 300; cloche env list; cloche workspace list; cloche nonsense", "/dev/null"],
            {
              env: { ...env, TERM: "xterm", ...more },
              input: "",
            },
          )
        ).stdout;
      expect(await onTerminal({ NO_COLOR: "" })).toContain("\u001B[1mNAME");
      const plain = await onTerminal({ NO_COLOR: "1" });
      expect(plain).toContain("NAME");
      expect(plain).not.toContain("\u001B");
      expect((await at.cli(["env", "list"])).stdout).not.toContain("\u001B");
    });
  });

  it("daemon status does not start one; stop ends it and keeps the workspaces", async () => {
    await withInstallation(async (at) => {
      const status = async () => (await at.cli(["daemon", "status", "--json"])).json() as unknown as DaemonStatus;
      expect(await status()).toMatchObject({ running: false, pid: null, workspace_count: null });
      expect((await at.cli(["daemon", "stop"])).stdout).toBe("The daemon was not running\n");
      const id = (await at.cli(["workspace", "create", "--id-only"])).stdout.trim();
      const running = await status();
      expect(running).toMatchObject({
        running: true,
        version,
        socket: join(at.home, "daemon.sock"),
        workspace_count: 1,
      });
      expect((await at.cli(["daemon", "status"])).stdout).toMatch(
        new RegExp(`^running +yes\\npid +${String(running.pid)}\\n`),
      );
      expect((await at.cli(["daemon", "stop", "--json"])).json()).toEqual({ stopped: true });
      await eventually(() => expect(existsSync(`/proc/${String(running.pid)}`)).toBe(false));
      expect((await status()).running).toBe(false);
      expect((await at.cli(["workspace", "exec", id, "--", "echo", "still here"])).stdout).toBe("still here\n");
    });
  });

  it("demo shows the main job, keeps every promise and leaves nothing", async () => {
    await withInstallation(async (at) => {
      const human = await at.cli(["demo"]);
      expect(human).toMatchObject({ code: 0, stderr: "" });
      expect(human.stdout).toMatch(/All \d+ steps went as promised/);
      const json = await at.cli(["demo", "--json"]);
      expect(json.code).toBe(0);
      const document = json.json() as { ok: boolean; duration_ms: number; steps: { name: string; ok: boolean }[] };
      expect(document.ok).toBe(true);
      expect(document.duration_ms).toBeLessThan(15_000);
      expect(document.steps.length).toBeGreaterThanOrEqual(6);
      for (const step of document.steps) expect(step.ok, step.name).toBe(true);
      expect((await at.sdk.listWorkspaces()).count).toBe(0);
    });
  });

  it("run deletes its workspace, also when it is interrupted or its command fails", async () => {
    await withInstallation(async (at) => {
      expect((await at.cli(["run", "--", "sh", "-c", "exit 12"])).code).toBe(12);
      const call = new Call(at, ["run", "--", "sh", "-c", "echo ready; sleep 55.75"]);
      await call.printed("ready");
      call.process.kill("SIGINT");
      expect(await call.ended).toBe(130);
      await eventually(async () => expect((await at.sdk.listWorkspaces()).count).toBe(0));
    });
  });
});

describe("time to live", () => {
  it("a workspace goes when its time has passed, but never under a command that runs; activity renews it", async () => {
    await withInstallation(async (at) => {
      const create = async (seconds: number) =>
        (await at.cli(["workspace", "create", "--ttl-seconds", String(seconds), "--id-only"])).stdout.trim();
      const ids = async () => (await at.sdk.listWorkspaces()).workspaces.map((one) => one.workspace_id);
      const idle = await create(1);
      // Longer than the CLI takes to come to its command, on a machine that is busy.
      const busy = await create(4);
      const { expires_at, last_activity_at } = await at.sdk.statusWorkspace(busy);
      expect(Number(expires_at) - last_activity_at).toBeCloseTo(4);
      const command = new Call(at, ["workspace", "exec", busy, "--", "sh", "-c", "echo ready; sleep 5; echo whole"]);
      await command.printed("ready");
      await eventually(async () => expect(await ids()).toEqual([busy]));
      await eventually(() => expect(existsSync(join(at.home, "workspaces", idle))).toBe(false));
      expect(await command.ended).toBe(0);
      expect(command.stdout).toBe("ready\nwhole\n");
      expect(await ids()).toEqual([busy]);
      await eventually(async () => expect(await ids()).toEqual([]));
      await eventually(() => expect(readdirSync(join(at.home, "workspaces"))).toEqual([]));
    });
  });
});
