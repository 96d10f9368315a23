import { execFile, spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { transpileProgram, type TranspiledProgram } from "../../test/helpers/transpile-program.ts";
import { packageVersion } from "../base/version.ts";

const run = promisify(execFile);
let program: TranspiledProgram;
let folder: string;
let options: SpawnOptions & { env: NodeJS.ProcessEnv };

beforeAll(async () => {
  program = transpileProgram("src/cli/main.ts");
  folder = await mkdtemp(join(tmpdir(), "cloche-cli-"));
  await chmod(program.entry, 0o755);
  await symlink(program.entry, join(folder, "cloche"));
  const env = {
    ...process.env,
    PATH: `${folder}:${process.env["PATH"] ?? ""}`,
    CLOCHE_HOME: join(folder, "home"),
    NO_COLOR: "1",
  };
  options = { env };
}, 60_000);
afterAll(async () => {
  program.remove();
  await rm(folder, { recursive: true });
});

describe("the program", () => {
  it("answers --version and loads nothing else", async () => {
    expect((await run("cloche", ["--version"], options)).stdout).toBe(`cloche ${packageVersion()}\n`);
    for (const words of [
      ["--version", "--json"],
      ["--json", "--version"],
    ])
      expect(JSON.parse((await run("cloche", words, options)).stdout)).toEqual({ version: packageVersion() });
    const traced = await run("cloche", ["-V"], { env: { ...options.env, NODE_DEBUG: "esm" } });
    const loaded = new Set(traced.stderr.match(/src\/[\w/-]+\.js/g));
    expect([...loaded].toSorted()).toEqual(["src/base/version.js", "src/cli/main.js"]);
  });

  it.each(["daemon status", "host connect --help", "mcp serve --help", "workspace create --help"])(
    "loads no package for `cloche %s`",
    async (line) => {
      const traced = await run("cloche", line.split(" "), { env: { ...options.env, NODE_DEBUG: "esm" } });
      expect(traced.stderr).toContain("src/cli/commands/");
      expect(traced.stderr).not.toContain("node_modules/");
    },
  );

  it("exits with the code and keeps a pipe's reader from seeing an error when it leaves early", async () => {
    await expect(run("cloche", ["nonsense"], options)).rejects.toMatchObject({ code: 2, stdout: "" });
    const { stderr, stdout } = await run(
      "bash",
      ["-c", "cloche workspace create --help | head -n1; echo ${PIPESTATUS[0]}"],
      options,
    );
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^Create a workspace\n(0|141)\n$/);
  });

  it("ends although its standard input never closes", async () => {
    const child = spawn("cloche", ["daemon", "status", "--json"], { ...options, stdio: ["pipe", "pipe", "inherit"] });
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close") as Promise<[number]>]);
    expect(code).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ running: false });
  });
});

describe("completion in bash", () => {
  /** What bash would offer for the line, with the cursor at its end. */
  async function complete(line: string): Promise<string[]> {
    const script = [
      'eval "$(cloche completion bash)"',
      'compopt() { echo "compopt $*"; }',
      "COMP_LINE=$1 COMP_POINT=${#1}",
      "_cloche",
      `printf '%s\\n' "\${COMPREPLY[@]}"`,
    ].join("\n");
    const { stdout } = await run("bash", ["-euc", script, "bash", line], {
      ...options,
      cwd: join(import.meta.dirname, "../.."),
    });
    return stdout.split("\n").filter((word) => word !== "");
  }

  it.each([
    ["cloche wo", ["workspace"]],
    ["cloche ws fi", ["file"]],
    ["cloche workspace file ", ["list", "read", "write"]],
    ["cloche workspace create --seed", ["--seed-path"]],
    ["cloche workspace create --network-policy ", ["off", "egress", "published-ports"]],
    ["cloche completion ", ["bash", "zsh", "fish"]],
    ["cloche help workspace exp", ["export"]],
    ["cloche workspace create --seed-path packa", ["compopt -o default"]],
    ["cloche workspace exec ws-1 -- pack", ["compopt -o default"]],
    [
      "cloche workspace exec ws-1 --",
      [
        ...["--cwd", "--env", "--secret-env", "--interactive", "--tty", "--detach", "--timeout-seconds"],
        ...["--json", "--verbose", "--help", "--"],
      ],
    ],
    ["cloche __", []],
  ])("%j", async (line, expected) => {
    expect((await complete(line)).toSorted()).toEqual([...expected].toSorted());
  });

  it("starts no daemon to complete an id", async () => {
    expect(await complete("cloche workspace status ws-")).toEqual([]);
    expect(JSON.parse((await run("cloche", ["daemon", "status", "--json"], options)).stdout)).toMatchObject({
      running: false,
    });
  });
});
