import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "smol-toml";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { HostChange, HostReport } from "../../src/model/host.ts";
import { agentsPath, type AgentProgram } from "../helpers/agents.ts";
import { Installation, PROJECT, runProcess } from "../helpers/installation.ts";
import { servedProcesses } from "../helpers/served-processes.ts";

const PROGRAM = join(PROJECT, "dist/cli/main.js");
const SERVE = [PROGRAM, "mcp", "serve"];

const at = new Installation("h");
let test = 0;
/** The user's home, and the cloche home: for each test a new one. */
let user: string;
let home: string;
let env: NodeJS.ProcessEnv;

beforeEach(() => {
  test += 1;
  [user, home] = [at.path(`user${test}`), at.path(`home${test}`)];
  mkdirSync(user);
  env = { HOME: user, CLOCHE_HOME: home, CLOCHE_CACHE: "" };
  install(["claude", "codex"]);
});
afterAll(async () => await at[Symbol.asyncDispose]());

/** The hosts' real commands, and a home of the user that has nothing in it. */
function install(programs: readonly AgentProgram[]): void {
  env["PATH"] = agentsPath(at.path(`bin${test}-${programs.length}`), programs);
}

const host = (...words: string[]) => at.cli(["host", ...words], { env });
const read = (...path: string[]) => readFileSync(join(user, ...path), "utf8");
function write(path: string, text: string | Buffer): string {
  const file = join(user, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}
async function change(...words: string[]): Promise<HostChange> {
  const done = await host(...words, "--json");
  expect(done.code, done.stdout + done.stderr).toBe(0);
  return done.json() as unknown as HostChange;
}
async function report(name: string): Promise<HostReport> {
  const { hosts } = (await host("doctor", "--json")).json() as unknown as { hosts: HostReport[] };
  return hosts.find((one) => one.host === name)!;
}
const backups = () => {
  try {
    return readdirSync(join(home, "host-backups"));
  } catch {
    return []; // nothing was kept yet
  }
};

const claudeServers = () => (JSON.parse(read(".claude.json")) as { mcpServers: Record<string, unknown> }).mcpServers;

describe("host connect claude-code", () => {
  it("adds the server with Claude Code's own command, which then knows it", async () => {
    const done = await change("connect", "claude-code");
    expect(done).toMatchObject({ changed: true, backup_path: null, command: [process.execPath, ...SERVE] });
    expect(claudeServers()).toEqual({
      cloche: { type: "stdio", command: process.execPath, args: SERVE, env: { CLOCHE_HOME: home } },
    });
    const listed = await runProcess("claude", ["mcp", "get", "cloche"], { env: { ...process.env, ...env } });
    expect(listed.stdout).toContain("User config");
    expect(await report("claude-code")).toMatchObject({ installed: true, state: "connected", next_step: null });
  });

  it("changes nothing the second time, and keeps other servers and a backup the first time", async () => {
    const text = JSON.stringify({ numStartups: 7, mcpServers: { mine: { command: "x", args: ["y"] } } });
    write(".claude.json", text);
    const first = await change("connect", "claude-code");
    expect(readFileSync(first.backup_path!, "utf8")).toBe(text);
    expect(statSync(dirname(first.backup_path!)).mode & 0o077).toBe(0);
    expect(claudeServers()).toMatchObject({ mine: { command: "x", args: ["y"] } });
    expect(JSON.parse(read(".claude.json"))).toMatchObject({ numStartups: 7 });

    const after = read(".claude.json");
    expect(await change("connect", "claude-code")).toMatchObject({ changed: false, backup_path: null });
    expect((await host("connect", "claude-code")).stdout).toContain("Already connected");
    expect(read(".claude.json")).toBe(after);
    expect(backups()).toHaveLength(1);
  });

  it("does not change an entry that differs, but says how", async () => {
    await change("connect", "claude-code", "--mode", "inspect");
    const before = read(".claude.json");
    const refused = await host("connect", "claude-code", "--mode", "repro-fix", "--json");
    expect(refused.code).toBe(1);
    expect(refused.json()).toMatchObject({
      error: { code: "HOST_DRIFTED", hint: expect.stringContaining("cloche host repair claude-code") as string },
    });
    expect(read(".claude.json")).toBe(before);
    expect(await change("repair", "claude-code", "--mode", "repro-fix")).toMatchObject({
      command: [process.execPath, ...SERVE, "--mode", "repro-fix"],
      diff: expect.stringMatching(/-.*inspect[\s\S]*\+.*repro-fix/) as string,
    });
    expect(await report("claude-code")).toMatchObject({ state: "connected" });
  });

  it("says that it is not installed, and what to do", async () => {
    install([]);
    const refused = await host("connect", "claude-code");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /^error: Claude Code is not installed here: `claude` is not on the PATH\nhint: .*print-config/,
    );
    expect(await report("claude-code")).toMatchObject({ installed: false, state: "not_connected", next_step: null });
  });

  it("passes on what the command says when it fails", async () => {
    const folder = at.path("failing");
    mkdirSync(folder);
    writeFileSync(join(folder, "claude"), "#!/bin/sh\necho 'no such scope' >&2\nexit 3\n", { mode: 0o755 });
    env["PATH"] = `${folder}:/usr/bin:/bin`;
    const refused = await host("connect", "claude-code", "--json");
    expect(refused.json()).toMatchObject({
      error: { code: "HOST_FAILED", message: "`claude mcp add` failed: no such scope" },
    });
  });

  it("does not take the command's word for it", async () => {
    const folder = at.path("lying");
    mkdirSync(folder);
    writeFileSync(join(folder, "claude"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    env["PATH"] = `${folder}:/usr/bin:/bin`;
    expect((await host("connect", "claude-code", "--json")).json()).toMatchObject({ error: { code: "HOST_FAILED" } });
  });
});

describe("host connect codex", () => {
  const mine = `# mine
model   = "x"     # why

[mcp_servers.mine]
command='x'
args = [ "y",  # first
  "z" ]
`;

  it("adds the server with Codex's own command, and leaves comments and form of all else", async () => {
    write(".codex/config.toml", mine);
    const done = await change("connect", "codex", "--profile", "vm-run");
    expect(read(".codex/config.toml").startsWith(`${mine}\n[mcp_servers.cloche]\n`)).toBe(true);
    expect(readFileSync(done.backup_path!, "utf8")).toBe(mine);
    const got = await runProcess("codex", ["mcp", "get", "cloche", "--json"], { env: { ...process.env, ...env } });
    expect(got.json()).toMatchObject({
      enabled: true,
      transport: {
        type: "stdio",
        command: process.execPath,
        args: [...SERVE, "--profile", "vm-run"],
        env: { CLOCHE_HOME: home },
      },
    });
    expect(await change("connect", "codex")).toMatchObject({ changed: false });
  });

  it("leaves a form that cannot be kept to Codex", async () => {
    write(".codex/config.toml", 'mcp_servers = { mine = { command = "x" } }\n');
    await change("connect", "codex");
    expect(parse(read(".codex/config.toml"))).toMatchObject({
      mcp_servers: { mine: { command: "x" }, cloche: { args: SERVE } },
    });
  });

  it("writes a file that is linked to where it is", async () => {
    const target = write("dotfiles/codex.toml", mine);
    chmodSync(target, 0o640);
    mkdirSync(join(user, ".codex"));
    symlinkSync("../dotfiles/codex.toml", join(user, ".codex/config.toml"));
    write("dotfiles/codex.toml", `${mine}\n[mcp_servers.cloche]\ncommand = "/gone"\nargs = ["mcp", "serve"]\n`);
    await change("repair", "codex");
    expect(lstatSync(join(user, ".codex/config.toml")).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, "utf8")).toContain(PROGRAM);
    expect(statSync(target).mode & 0o777).toBe(0o640);
  });
});

describe("host doctor and host repair", () => {
  it("show the drift as a diff without other secrets, and repair it and nothing else", async () => {
    const args = JSON.stringify(["/gone/main.js", "mcp", "serve", "--mode", "inspect"]);
    const [before, after] = [
      '{\n   "n":1,\n   "mcpServers": { "mine" : {"command":"x"},\n     "cloche": ',
      ' },\n  "z":[ 1 ]}\n',
    ];
    write(
      ".claude.json",
      `${before}{"type": "stdio", "command": "node", "args": ${args}, "env": {"TOKEN": "hush"}, "timeout": 9}${after}`,
    );
    const doctor = await host("doctor");
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/^claude-code +yes +drifted +\//m);
    expect(doctor.stdout).toContain('claude-code: It starts "/gone/main.js", which is not there');
    expect(doctor.stdout).toMatch(/^- +"\/gone\/main\.js",\n\+ +".*dist\/cli\/main\.js",$/m);
    expect(doctor.stdout).toContain("hint: Run `cloche host repair claude-code`");
    expect(doctor.stdout).not.toContain("hush");

    const repaired = await change("repair", "claude-code");
    expect(readFileSync(repaired.backup_path!, "utf8")).toContain("/gone/main.js");
    const text = read(".claude.json");
    expect(text.startsWith(before) && text.endsWith(after)).toBe(true);
    expect(claudeServers()["cloche"]).toEqual({
      type: "stdio",
      command: process.execPath,
      args: [...SERVE, "--mode", "inspect"],
      env: { TOKEN: "hush", CLOCHE_HOME: home },
      timeout: 9,
    });
    expect((await host("doctor")).code).toBe(0);
    expect((await host("repair", "claude-code")).stdout).toBe("Nothing to repair: claude-code is connected\n");
  });

  it("say whether the server that a host starts answers, and leave none behind", async () => {
    const { server } = (await host("doctor", "--json")).json();
    expect(server).toEqual({ answers: true, detail: expect.stringMatching(/^answers in \d+ ms$/) as string });
    expect(servedProcesses(home)).toEqual([]);
  });

  it("say what the tools of each connected host reach of this machine, by the options that were passed on", async () => {
    mkdirSync(join(user, ".cursor"));
    mkdirSync(join(user, ".config/opencode"), { recursive: true });
    await change("repair", "cursor");
    const wider = [
      "--allow-read",
      "shared",
      "--allow-read",
      "/data",
      "--allow-environment",
      "docker:*",
      "--output-dir",
      "out",
    ];
    await change("repair", "opencode", "--project-path", "/", "--all-workspaces", ...wider);
    expect((await report("cursor")).access).toEqual({
      reads: ["the git checkout that it is started in"],
      writes: [".cloche/exports in the checkout"],
      environments: ["host", "debian:*"],
      workspaces: "own",
    });
    expect((await report("opencode")).access).toEqual({
      reads: ["/", expect.stringMatching(/^\/.*\/shared$/), "/data"],
      writes: [expect.stringMatching(/^\/.*\/out$/)],
      environments: ["host", "debian:*", "docker:*"],
      workspaces: "all",
    });
    expect((await report("codex")).access).toBeNull();
    const { stdout } = await host("doctor");
    expect(stdout).toContain("cursor reads      the git checkout that it is started in\n");
    expect(stdout).toContain("opencode reaches    every workspace\n");
  });

  it("put the server into Cursor's and opencode's files, with their comments", async () => {
    const text = '{\n  // mine\n  "theme": "x",\n}\n';
    write(".config/opencode/opencode.jsonc", text);
    mkdirSync(join(user, ".cursor"));
    const opencode = await change("repair", "opencode");
    expect(opencode.config_path).toBe(join(user, ".config/opencode/opencode.jsonc"));
    expect(read(".config/opencode/opencode.jsonc")).toContain('  // mine\n  "theme": "x",\n');
    expect(await report("opencode")).toMatchObject({ installed: true, program: null, state: "connected" });
    // The doctor takes the host for installed where repair does, and leads to it.
    expect(await report("cursor")).toMatchObject({
      installed: true,
      program: null,
      next_step: "Run `cloche host repair cursor`",
    });
    expect(await change("repair", "cursor")).toMatchObject({ changed: true, backup_path: null });
    expect(JSON.parse(read(".cursor/mcp.json"))).toEqual({
      mcpServers: { cloche: { command: process.execPath, args: SERVE, env: { CLOCHE_HOME: home } } },
    });
  });

  it("do not make a file for a host that is not there", async () => {
    const refused = await host("repair", "cursor", "--json");
    expect(refused.json()).toMatchObject({ error: { code: "HOST_NOT_INSTALLED" } });
    expect(readdirSync(user)).toEqual([]);
    expect(await report("cursor")).toMatchObject({ installed: false, next_step: null });
  });

  it("do not take a home for the folder of a host that keeps its file in it", async () => {
    install([]);
    const refused = await host("repair", "claude-code", "--json");
    expect(refused.json()).toMatchObject({ error: { code: "HOST_NOT_INSTALLED" } });
    expect(readdirSync(user)).toEqual([]);
  });
});

describe("host print-config", () => {
  it.each([
    ["claude-code", ".claude.json"],
    ["cursor", ".cursor/mcp.json"],
    ["opencode", ".config/opencode/opencode.json"],
    ["codex", ".codex/config.toml"],
  ])("prints for %s a whole file that the doctor then calls connected", async (name, file) => {
    const printed = await host("print-config", name, "--project-path", ".");
    expect(printed.code).toBe(0);
    expect(printed.stderr).toBe(`This belongs into ${join(user, file)}\n`);
    expect(readdirSync(user)).toEqual([]);
    write(file, printed.stdout);
    expect(printed.stdout).toContain(PROJECT.replace(/\/$/, ""));
    expect(await report(name)).toMatchObject({ state: "connected" });
  });

  it("has the host's own command in its JSON, and refuses a host that it does not know", async () => {
    const { add_command: words } = (await host("print-config", "codex", "--json")).json() as { add_command: string[] };
    const [program, ...rest] = words;
    expect((await runProcess(program!, rest, { env: { ...process.env, ...env } })).code).toBe(0);
    expect(await report("codex")).toMatchObject({ state: "connected" });
    expect(await host("print-config", "no-such-host")).toMatchObject({ code: 2 });
    expect(await host("connect", "cursor")).toMatchObject({ code: 2 });
  });
});
