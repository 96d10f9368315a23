import { NO_MODEL_USAGE } from "../model/model-usage.ts";
import { describe, expect, it } from "vitest";
import { createMemoryIo } from "../../test/helpers/memory-io.ts";
import { failure } from "../model/error-codes.ts";
import type { Workspace } from "../model/workspace.ts";
import type { Cloche } from "../sdk/cloche.ts";
import type { PruneOptions, ReadFileOptions } from "../sdk/options.ts";
import { runCli } from "./run-cli.ts";

async function call(args: string[], options?: Parameters<typeof createMemoryIo>[0]) {
  const io = createMemoryIo(options);
  const code = await runCli(args, io);
  return { code, stdout: io.stdout.text, stderr: io.stderr.text };
}

const workspace: Workspace = {
  workspace_id: "ws-0123456789",
  name: "evil\u001B[2J",
  labels: {},
  environment: "host",
  backend: "container",
  state: "started",
  state_reason: null,
  network_policy: "off",
  created_at: Date.now() / 1000 - 90,
  last_activity_at: Date.now() / 1000,
  expires_at: Date.now() / 1000 + 3599,
  ttl_seconds: 3600,
  keep: false,
  deletes_at: null,
  execution_mode: "guest_socket",
  vcpu_count: 1,
  mem_mib: 2048,
  command_count: 2,
  service_count: 0,
  running_service_count: 0,
  shell_count: 0,
  reset_count: 0,
  workspace_seed: {
    mode: "empty",
    seed_path: null,
    origin_kind: null,
    origin_ref: null,
    left_out: null,
    included: null,
  },
  model_usage: NO_MODEL_USAGE,
  secrets: [],
};

describe("usage errors", () => {
  it.each([
    [["workspce", "list"], 'Did you mean "workspace"?'],
    [["workspace", "lst"], 'Did you mean "list"?'],
    [["workspace", "list", "--jsn"], 'Did you mean "--json"?'],
    [["status"], "Did you mean `cloche workspace status` or `cloche daemon status`?"],
    [["exec", "ws-1", "--", "ls"], "Did you mean `cloche workspace exec`?"],
    [["shell"], "Did you mean `cloche workspace shell`?"],
    [["rm"], "`cloche workspace list` shows the ids"],
    [["rm", "--all"], "Give --yes"],
    [["rm", "--all", "ws-1"], "Leave one of them out"],
    [["version"], 'Did you mean "--version"?'],
    [["workspace", "write"], "Did you mean `cloche workspace file write` or `cloche workspace shell write`?"],
    [["workspace", "pull"], "Did you mean `cloche env pull`?"],
    [["constructor"], "--help"],
    [["workspace", "status"], "`cloche workspace list` shows the ids and names."],
    [["attach"], "`cloche list active --all` shows the identities."],
    [["edit"], "`cloche list` shows the names."],
    [["approvals", "show"], "`cloche approvals list` shows the ids."],
    [["env", "inspect"], "`cloche env list` shows the names."],
    [["ws", "service", "logs", "ws-1"], "`cloche workspace service list ws-1` shows the names."],
    [["--frob"], "--help"],
    [["workspace", "create", "--ttl-seconds", "soon"], "--help"],
    [["workspace", "create", "--label", "without-equals"], "--help"],
    [["workspace", "create", "--label", "-bad=1"], "--help"],
    [["workspace", "create", "--network-policy", "everything"], "--help"],
    [["workspace", "create", "--secret", "1BAD=x"], "--help"],
    [["workspace", "exec", "ws-1", "--secret-env", "1BAD", "--", "true"], "--help"],
    [["workspace", "exec", "ws-1"], "after `--`"],
    [["workspace", "update", "ws-1"], "Give --name"],
    [["workspace", "file", "write", "ws-1", "a"], "--help"],
    [["workspace", "file", "write", "ws-1", "a", "--text-file", "/nonexistent/x"], "--help"],
    [["workspace", "export", "ws-1", "a"], "--help"],
    [["workspace", "patch", "apply", "ws-1"], "--help"],
    [["workspace", "patch", "apply", "ws-1", "--patch", "x", "--patch-file", "-"], "--help"],
    [["workspace", "patch", "apply", "ws-1", "--patch-file", "/nonexistent/x"], "--help"],
    [["workspace", "sync", "push", "ws-1"], "--help"],
    [["workspace", "snapshot", "creat", "ws-1"], 'Did you mean "create"?'],
    [["workspace", "service", "start", "ws-1", "web"], "after `--`"],
    [["workspace", "service", "start", "ws-1", "web", "--ready-tcp", "0", "--", "x"], "--help"],
    [["workspace", "service", "start", "ws-1", "web", "--publish", "x:1", "--", "x"], "--help"],
    [
      ["workspace", "service", "start", "ws-1", "web", "--ready-tcp", "1", "--ready-file", "a", "--", "x"],
      "--ready-command",
    ],
    [["workspace", "service", "logs", "ws-1", "web", "--all", "--tail-lines", "3"], "--help"],
    [["workspace", "disk", "export", "ws-1"], "--help"],
    [["workspace", "disk", "export", "ws-1", "--output", "x", "--format", "zip"], "--help"],
    [["workspace", "exec", "ws-1", "-t", "--", "sh"], "Leave --tty out"],
    [["completion", "tcsh"], "--help"],
    [["help", "workspace", "creat"], 'Did you mean "create"?'],
  ])("%j: two lines, exit 2; with --json one document", async (args, hint) => {
    const human = await call(args, { client: {} });
    expect(human.code).toBe(2);
    expect(human.stdout).toBe("");
    expect(human.stderr).toMatch(/^error: .+\nhint: .+\n$/);
    expect(human.stderr).toContain(hint);

    const json = await call(["--json", ...args], { client: {} });
    expect(json).toMatchObject({ code: 2, stderr: "" });
    const document = JSON.parse(json.stdout) as { error: { code: string; hint: string } };
    expect(document.error.code).toBe("USAGE");
    expect(document.error.hint).toContain(hint);
  });

  it("a --json after -- is the command's, not ours", async () => {
    const { stdout, stderr } = await call(["workspace", "exec", "--", "jq", "--json"]);
    expect(stdout).toBe("");
    expect(stderr).toContain("Missing ID");
  });
});

describe("errors", () => {
  it("are two lines without control characters and exit as the code says", async () => {
    const client = {
      statusWorkspace: () =>
        Promise.reject(failure("SANDBOX_LOST", "It\nis \u001B[31mgone", { cause: new Error("why") })),
    };
    const { code, stderr } = await call(["ws", "status", "ws-1"], { client });
    expect(code).toBe(125);
    expect(stderr).toBe(
      "error: It\\nis \\x1b[31mgone\nhint: See `cloche workspace status ID`; `cloche workspace start ID` starts it again with its files\n",
    );
    expect((await call(["ws", "status", "ws-1", "-v"], { client })).stderr).toContain("note: caused by: why\n");
  });

  it("a signal while the terminal shows progress removes that, says so, and ends as it would have", async () => {
    let closed = false;
    const client: Partial<Cloche> = {
      createWorkspace: (options) => {
        options?.onProgress?.({ step: "booting a machine" });
        io.send("INT");
        return new Promise(() => undefined);
      },
      close: () => Promise.resolve(void (closed = true)),
    };
    const io = createMemoryIo({ client, tty: true });
    expect(await runCli(["ws", "create"], io)).toBe(130);
    expect(io.stderr.text).toBe("booting a machine\r\u001B[Kcancelled\n");
    expect(closed).toBe(true);
    io.send("INT"); // nobody listens any more
    expect(io.stderr.text.endsWith("cancelled\n")).toBe(true);
  });

  it("name the option that was typed, where the daemon names an argument of its own", async () => {
    const problem = '"mem_mib" must be at most 1048576';
    const client = {
      createWorkspace: () =>
        Promise.reject(
          failure("INVALID_ARGUMENT", `Cannot do createWorkspace: ${problem}`, {
            details: { argument: "mem_mib", problem },
          }),
        ),
    };
    const { code, stderr } = await call(["ws", "create", "--mem-mib", "9999999"], { client });
    expect(code).toBe(2);
    expect(stderr).toBe(
      "error: --mem-mib must be at most 1048576\nhint: Run `cloche workspace create --help` to see what it takes\n",
    );
  });

  it("an unexpected error is INTERNAL, without a stack", async () => {
    const { code, stdout } = await call(["ws", "list", "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "INTERNAL", message: "no client" } });
  });

  it("never repeat a secret, however wrong it was typed", async () => {
    for (const args of [
      ["--secret", "1BAD=hush"],
      ["--secret", "hush"],
      ["--secret", "--hush"],
      ["--secret=A=hush", "--frob"],
      ["--secret", "A=hush", "extra", "more"],
    ]) {
      for (const json of [[], ["--json"]]) {
        const { code, stdout, stderr } = await call(["ws", "create", ...args, ...json], { client: {} });
        expect(code, args.join(" ")).toBe(2);
        expect(stdout + stderr).not.toContain("hush");
      }
    }
  });
});

describe("results", () => {
  it("words that stop half way show what could follow; with --json they are a usage error", async () => {
    for (const words of [[], ["workspace"], ["ws", "file"]]) {
      const { code, stdout, stderr } = await call(words);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toMatch(/^Usage: cloche[a-z ]* COMMAND/m);
      expect(await call(["--json", ...words])).toMatchObject({
        code: 2,
        stdout: expect.stringContaining("USAGE") as string,
      });
    }
  });

  it("help is at most 80 columns wide, but for its examples", async () => {
    for (const words of [["ws"], ["ws", "create"], ["ws", "service", "start"], ["ws", "exec"], ["demo"]]) {
      const { stdout } = await call([...words, "--help"]);
      const [text = ""] = stdout.split("\nExamples:\n");
      expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
    }
  });

  it("--help works at every level, on stdout", async () => {
    for (const args of [
      ["--help"],
      ["ws", "-h"],
      ["ws", "file", "--help"],
      ["workspace", "exec", "-h"],
      ["help", "ws", "exec"],
    ]) {
      expect(await call(args), args.join(" ")).toMatchObject({
        code: 0,
        stderr: "",
        stdout: expect.stringContaining("Usage: cloche") as string,
      });
    }
    expect(JSON.parse((await call(["ws", "exec", "--help", "--json"])).stdout)).toMatchObject({
      command: "cloche workspace exec",
    });
  });

  it("an empty list is a note on stderr and an empty stdout", async () => {
    const client = { listWorkspaces: () => Promise.resolve({ count: 0, workspaces: [] }) };
    expect(await call(["ws", "list"], { client })).toEqual({ code: 0, stdout: "", stderr: "No workspaces\n" });
    expect(await call(["ws", "list", "--json"], { client })).toMatchObject({ code: 0, stderr: "" });
  });

  it("a list is an aligned table in which names cannot drive the terminal", async () => {
    const client = { listWorkspaces: () => Promise.resolve({ count: 1, workspaces: [workspace] }) };
    expect((await call(["ws", "list"], { client })).stdout).toBe(
      [
        "ID             NAME         STATE    ENVIRONMENT  BACKEND    AGE  EXPIRES",
        "ws-0123456789  evil\\x1b[2J  started  host         container  1m   in 59m",
        "",
      ].join("\n"),
    );
  });

  it("create passes on what was given, and --id-only prints the id alone", async () => {
    let given: unknown;
    const client = {
      createWorkspace: (options: unknown) => {
        given = options;
        return Promise.resolve(workspace);
      },
    };
    const args = [
      "ws",
      "create",
      "debian:12",
      "--label",
      "a=b",
      "--ttl-seconds",
      "60",
      "--vcpu-count",
      "2",
      "--id-only",
    ];
    expect(await call(args, { client })).toEqual({ code: 0, stdout: "ws-0123456789\n", stderr: "" });
    expect(given).toMatchObject({
      environment: "debian:12",
      labels: { a: "b" },
      ttl_seconds: 60,
      vcpu_count: 2,
      seed_path: undefined,
    });
  });

  it("file read prints every byte when piped, reads on until the end, and escapes what a terminal is shown", async () => {
    const place = {
      workspace_id: "ws-1",
      path: "/workspace/a",
      offset: 0,
      next_offset: null,
      encoding: "utf8" as const,
    };
    const file = { ...place, content: "a\u001B[2J", size_bytes: 5, truncated: false };
    const client = { readWorkspaceFile: () => Promise.resolve(file) };
    expect((await call(["ws", "file", "read", "ws-1", "a"], { client })).stdout).toBe("a\u001B[2J");
    expect((await call(["ws", "file", "read", "ws-1", "a"], { client, tty: true })).stdout).toBe("a\\x1b[2J\n");
    const whole = Buffer.from([0xff, 0, 10, 0xc3, 0x28, 0x1b, 7]);
    const asked: ReadFileOptions[] = [];
    const paged = {
      readWorkspaceFile: (_id: string, _path: string, options: ReadFileOptions = {}) => {
        asked.push(options);
        const { offset = 0, max_bytes = 65_536 } = options;
        const end = Math.min(offset + Math.min(max_bytes, 3), whole.length);
        const truncated = end < whole.length;
        const content = whole.subarray(offset, end).toString("base64");
        const page = { ...file, content, encoding: "base64" as const, size_bytes: whole.length, offset, truncated };
        return Promise.resolve({ ...page, next_offset: truncated ? end : null });
      },
    };
    const read = async (...words: string[]) => {
      const io = createMemoryIo({ client: paged });
      await runCli(["ws", "file", "read", "ws-1", "a", ...words], io);
      return io.stdout.bytes;
    };
    expect(await read()).toEqual(whole);
    expect(await read("--content-only")).toEqual(whole);
    expect(await read("--max-bytes", "4")).toEqual(whole.subarray(0, 4));
    const { stdout } = await call(["ws", "file", "read", "ws-1", "a", "--json"], { client: paged });
    expect(JSON.parse(stdout)).toMatchObject({
      content: whole.toString("base64"),
      encoding: "base64",
      truncated: false,
    });
    const shown = await call(["ws", "file", "read", "ws-1", "a", "--max-bytes", "3"], { client: paged, tty: true });
    expect(shown.stderr).toContain("note: this is the beginning of 7 B");
    expect(shown.stderr).toContain("note: this is no text");
    // eslint-disable-next-line no-control-regex -- those are what must not be there
    expect(shown.stdout).not.toMatch(/[\u0000-\u0009\u001B]/);
    expect(asked.length).toBeGreaterThan(8);
  });

  it("env prune passes names and --dry-run on, and says what would go, what stays and why", async () => {
    const asked: unknown[] = [];
    const answer = {
      dry_run: true,
      removed: [{ name: "debian:12", size_bytes: 2048 }],
      kept: [{ name: "host", reason: "a workspace uses it" }],
      backends: [{ name: "vm", removed: [{ name: "frozen machine", size_bytes: 1024 }], problem: null }],
      freed_bytes: 3072,
    };
    const client = {
      pruneEnvironments: ({ environments, dry_run }: PruneOptions = {}) => {
        asked.push({ environments, dry_run });
        return Promise.resolve(answer);
      },
    };
    const { stdout } = await call(["env", "prune", "debian:12", "host", "--dry-run"], { client });
    expect(asked).toEqual([{ environments: ["debian:12", "host"], dry_run: true }]);
    expect(stdout).toBe(
      "Would remove debian:12, 2.0 KiB\nWould remove frozen machine, 1.0 KiB\nKept host: a workspace uses it\nWould free 3.0 KiB\n",
    );
    Object.assign(answer, { dry_run: false, removed: [], backends: [], freed_bytes: 0 });
    expect((await call(["env", "prune"], { client })).stdout).toBe("Nothing to remove\n");
    expect(asked[1]).toEqual({ environments: undefined, dry_run: false });
  });

  it("doctor exits with 1 when the default backend does not work, and shows the hint", async () => {
    const backend = {
      name: "container",
      available: false,
      detail: "no user namespaces",
      hint: "sysctl user.max_user_namespaces",
      limits: [{ name: "memory" as const, holds: true, detail: "cgroups" }],
      default_limits: { vcpu_count: 8, mem_mib: 16_128, pids: 1024 },
      capabilities: {
        host_folders: true,
        oci_runtime: true,
        live_snapshots: false,
        machine_files: false,
        guarded_system: true,
        remediation: false,
        egress: false,
      },
    };
    const health = {
      healthy: false,
      default_backend: "container",
      version: "1",
      home: "/h",
      cache: "/c",
      backends: [backend],
      environments: [],
      agents: [],
    };
    const { code, stdout } = await call(["doctor"], { client: { doctor: () => Promise.resolve(health) } });
    expect(code).toBe(1);
    expect(stdout).toMatch(/✗ container +- .* no user namespaces/);
    expect(stdout).toContain("8 vcpu, 16128 MiB");
    expect(stdout).toContain("hint: container: sysctl user.max_user_namespaces");
    expect(stdout).toContain("Not ready: the default backend, container, does not work");
    const none = { ...health, default_backend: "nope" };
    const { stdout: other } = await call(["doctor"], { client: { doctor: () => Promise.resolve(none) } });
    expect(other).toContain('Not ready: there is no backend "nope"');
  });
});
