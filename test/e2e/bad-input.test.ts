import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Exported, FileContent } from "../../src/model/files.ts";
import { runAsUser } from "../helpers/as-user.ts";
import { cliInProcess } from "../helpers/cli-in-process.ts";
import { type CliResult, Installation, runProcess, withInstallation } from "../helpers/installation.ts";
import { useSandbox } from "../helpers/sandbox.ts";

interface Refusal {
  readonly exit: number;
  readonly code: string;
  /** What the message names. */
  readonly names: string;
}

function expectRefusal({ code, stdout, stderr }: CliResult, refusal: Refusal): void {
  const document = JSON.parse(stdout) as { error: { code: string; message: string; hint: string } };
  expect(Object.keys(document)).toEqual(["error"]);
  expect(document.error.code).toBe(refusal.code);
  expect(document.error.message).toContain(refusal.names);
  expect(document.error.hint.trim()).not.toBe("");
  expect(stderr).toBe("");
  expect(code).toBe(refusal.exit);
}

/** Everything of an installation that a refused call must leave as it was. */
async function stateOf(at: Installation): Promise<unknown> {
  const folder = join(at.home, "workspaces");
  return [
    (await at.sdk.listWorkspaces()).workspaces.map((one) => [
      one.workspace_id,
      one.name,
      one.labels,
      one.command_count,
    ]),
    existsSync(folder) ? readdirSync(folder) : [],
  ];
}

const row = (args: string[], exit: number, code: string, names: string) => ({
  title: args.join(" "),
  args,
  exit,
  code,
  names,
});

describe("create", () => {
  let here: Installation;
  beforeAll(() => {
    here = new Installation("bad");
    writeFileSync(here.path("plain.txt"), "no archive\n");
    writeFileSync(here.path("broken.tar"), "no archive either\n");
    symlinkSync("loop", here.path("loop"));
  });
  afterAll(() => here[Symbol.asyncDispose]());

  it.each([
    row(["nope"], 2, "ENVIRONMENT_NOT_FOUND", '"nope"'),
    row(["--backend", "nope"], 2, "BACKEND_NOT_FOUND", '"nope"'),
    row(["--frobnicate"], 2, "USAGE", "--frobnicate"),
    row(["host", "more"], 2, "USAGE", '"more"'),
    row(["--seed-path", "@root/missing"], 2, "SEED_NOT_FOUND", "@root/missing"),
    row(["--seed-path", "@root/plain.txt/below"], 2, "SEED_NOT_FOUND", "@root/plain.txt/below"),
    row(["--seed-path", "@root/plain.txt"], 2, "SEED_INVALID", "@root/plain.txt"),
    row(["--seed-path", "@root/broken.tar"], 2, "SEED_INVALID", "@root/broken.tar"),
    row(["--seed-path", "@root/loop"], 2, "SEED_INVALID", "@root/loop"),
    row(["--seed-path", "/dev/null"], 2, "SEED_INVALID", "/dev/null"),
    row(["--seed-path", "/"], 2, "SEED_INVALID", '"/"'),
    row(["--seed-path", "/tmp/.."], 2, "SEED_INVALID", '"/'),
    row(["--seed-path", ""], 2, "INVALID_ARGUMENT", "--seed-path"),
    row(["--label", "without-equals"], 2, "USAGE", '"without-equals"'),
    row(["--label", "a b=c"], 2, "USAGE", '"a b=c"'),
    row(["--name", "a b"], 2, "INVALID_ARGUMENT", "--name"),
    row(["--ttl-seconds", "soon"], 2, "USAGE", '"soon"'),
    row(["--ttl-seconds", "0"], 2, "USAGE", '"0"'),
    row(["--ttl-seconds=-5"], 2, "USAGE", '"-5"'),
    row(["--ttl-seconds", "99999999999"], 2, "INVALID_ARGUMENT", "--ttl-seconds"),
    row(["--mem-mib", "1"], 2, "INVALID_ARGUMENT", "--mem-mib"),
    row(["--vcpu-count", "9999"], 2, "INVALID_ARGUMENT", "--vcpu-count"),
    row(["--network-policy", "egress"], 2, "INVALID_ARGUMENT", '"egress"'),
    row(["--network-policy", "egress", "--allow-host", "*.com"], 2, "INVALID_ARGUMENT", "at least two labels"),
    row(["--allow-host", "example.com"], 2, "INVALID_ARGUMENT", "the network policy is off"),
    row(["--secret", "TOKEN=hu"], 2, "SECRET_INVALID", '"TOKEN"'),
  ])("$title is $code and makes nothing", async ({ args, exit, code, names }) => {
    const fill = (text: string) => text.replace("@root", here.root);
    const before = await stateOf(here);
    const answer = await cliInProcess(here, ["workspace", "create", "--json", ...args.map(fill)]);
    expectRefusal(answer, { exit, code, names: fill(names) });
    expect(await stateOf(here)).toEqual(before);
    expect(answer.stdout).not.toContain("=hu");
  });

  it("an error is two lines on stderr without --json", async () => {
    const { code, stdout, stderr } = await here.cli(["ws", "create", "nope"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe(
      'error: There is no environment "nope"\nhint: Use one of: host, debian:12, debian:12-build, docker:IMAGE, dockerfile:FOLDER, smolmachine:FILE.smolmachine\n',
    );
  });

  it("run refuses the same, with the same exit codes", async () => {
    expectRefusal(await here.cli(["run", "--json", "nope", "--", "true"]), {
      exit: 2,
      code: "ENVIRONMENT_NOT_FOUND",
      names: "nope",
    });
    expectRefusal(await here.cli(["run", "--json", "--seed-path", "/", "--", "true"]), {
      exit: 2,
      code: "SEED_INVALID",
      names: '"/"',
    });
    expectRefusal(await here.cli(["run", "--json"]), { exit: 2, code: "USAGE", names: "command" });
  });

  it.each([
    [
      "an unknown key",
      "backend: container\nbogus: 1\n",
      ['"bogus"', "backend, environment, ttl_seconds, grace_seconds, limits"],
    ],
    ["an unknown key below", "limits:\n  memory: 1\n", ['"memory" in "limits"', "mem_mib"]],
    ["a value of the wrong kind", "ttl_seconds: soon\n", ['"ttl_seconds"']],
    ["broken YAML", "backend: container\nlimits: [\n", ["line 3"]],
    ["no map at all", "- container\n", ["config.yaml"]],
  ])("a config.yaml with %s is CONFIG_INVALID that names it, and list goes on", async (_what, text, parts) => {
    const file = join(here.home, "config.yaml");
    await here.sdk.listWorkspaces();
    writeFileSync(file, text);
    try {
      const answer = await here.cli(["workspace", "create", "--json"]);
      expectRefusal(answer, { exit: 2, code: "CONFIG_INVALID", names: file });
      for (const part of parts) expect((answer.json()["error"] as { message: string }).message).toContain(part);
      expect((await here.cli(["workspace", "list", "--json"])).json()).toEqual({ count: 0, workspaces: [] });
    } finally {
      rmSync(file);
    }
  });

  it.each([5, 100])("a limit that no backend holds is refused, not ignored: disk_mib %d", async (disk) => {
    const file = join(here.home, "config.yaml");
    writeFileSync(file, `limits: { disk_mib: ${disk} }\n`);
    try {
      expectRefusal(await here.cli(["workspace", "create", "--json"]), {
        exit: 1,
        code: "LIMIT_UNSUPPORTED",
        names: "disk",
      });
    } finally {
      rmSync(file);
    }
  });
});

describe("ids", () => {
  const box = useSandbox("ids");
  const verbs: string[][] = [
    ["workspace", "status"],
    ["workspace", "update", "--name", "x"],
    ["workspace", "logs"],
    ["workspace", "diff"],
    ["workspace", "file", "list"],
    ["workspace", "file", "read", "@id", "a"],
    ["workspace", "file", "write", "@id", "a", "--text", "x"],
    ["workspace", "export", "@id", "a", "--output", "@out"],
    ["workspace", "exec", "@id", "--", "true"],
    ["workspace", "delete"],
  ];
  const call = (verb: string[], id: string) => {
    const words = verb.includes("@id") ? verb : [...verb, "@id"];
    return cliInProcess(box.at, [
      "--json",
      ...words.map((word) => (word === "@id" ? id : word === "@out" ? box.at.path("out") : word)),
    ]);
  };

  it.each(verbs.map((verb) => ({ verb, title: verb.join(" ") })))(
    "an unknown or malformed id is WORKSPACE_NOT_FOUND for $title",
    async ({ verb }) => {
      for (const id of ["ws-0000000000", "nonsense", "../../etc"]) {
        expectRefusal(await call(verb, id), { exit: 1, code: "WORKSPACE_NOT_FOUND", names: `"${id}"` });
      }
      expect(existsSync(box.at.path("out"))).toBe(false);
    },
  );

  it("an ambiguous prefix is refused by every verb, and nothing is done to either", async () => {
    const other = await box.at.sdk.createWorkspace({ environment: "host" });
    const before = await stateOf(box.at);
    for (const verb of verbs)
      expectRefusal(await call(verb, "ws-"), { exit: 1, code: "WORKSPACE_AMBIGUOUS", names: '"ws-"' });
    expect(await stateOf(box.at)).toEqual(before);
    await box.at.sdk.deleteWorkspace(other.workspace_id);
  });

  it("an unknown environment is refused by env inspect and env pull", async () => {
    for (const verb of ["inspect", "pull"]) {
      expectRefusal(await box.at.cli(["env", verb, "nope", "--json"]), {
        exit: 2,
        code: "ENVIRONMENT_NOT_FOUND",
        names: '"nope"',
      });
    }
  });
});

describe("files", () => {
  const box = useSandbox("file");
  beforeAll(async () => {
    const made =
      await box.sh(`set -e; mkdir -p d tree/sub; mkfifo p tree/pipe; truncate -s 2G big; echo x > f; ln -s nowhere dangling; ln -s /etc/passwd away
      ln -s /dev/null null; echo 1 > tree/sub/one; ln -s sub/one tree/link; chmod 750 tree/sub; chmod 755 f
      perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un("s")) or die'; cd d; touch "$(printf 'new\\nline')" "$(printf 'byte\\377')" ' lead' -- -dash`);
    expect(made).toMatchObject({ exit_code: 0, stderr: "" });
    writeFileSync(box.at.path("exists"), "precious\n");
    mkdirSync(box.at.path("folder"));
    writeFileSync(box.at.path("folder", "inside"), "precious\n");
  });
  const words = (...args: string[]) => [
    "workspace",
    ...args.map((arg) => arg.replace("@id", box.id).replace("@host", box.at.root)),
    "--json",
  ];
  const call = (...args: string[]) => cliInProcess(box.at, words(...args));
  const callProgram = (...args: string[]) => box.at.cli(words(...args));

  it.each([
    row(["read", "@id", "d"], 1, "FILE_WRONG_TYPE", '"d": it is a directory'),
    row(["read", "@id", "p"], 1, "FILE_WRONG_TYPE", '"p": it is not a regular file'),
    row(["read", "@id", "s"], 1, "FILE_WRONG_TYPE", '"s": it is not a regular file'),
    row(["read", "@id", "missing"], 1, "FILE_NOT_FOUND", '"missing"'),
    row(["read", "@id", "dangling"], 1, "FILE_NOT_FOUND", '"dangling"'),
    row(["read", "@id", "f/below"], 1, "FILE_WRONG_TYPE", '"f/below"'),
    row(["read", "@id", "/dev/zero"], 2, "PATH_OUTSIDE_WORKSPACE", '"/dev/zero"'),
    row(["read", "@id", "null"], 2, "PATH_OUTSIDE_WORKSPACE", '"null"'),
    row(["read", "@id", "big", "--content-only"], 1, "FILE_TOO_LARGE", "/workspace/big"),
    row(["read", "@id", "f", "--max-bytes", "none"], 2, "USAGE", '"none"'),
    row(["list", "@id", "f"], 1, "FILE_WRONG_TYPE", '"f"'),
    row(["list", "@id", "missing"], 1, "FILE_NOT_FOUND", '"missing"'),
    row(["write", "@id", "d", "--text", "x"], 1, "FILE_WRONG_TYPE", '"d": it is a directory'),
    row(["write", "@id", ".", "--text", "x"], 1, "FILE_WRONG_TYPE", '".": it is a directory'),
    row(["write", "@id", "p", "--text", "x"], 1, "FILE_WRONG_TYPE", '"p"'),
    row(["write", "@id", "f/below", "--text", "x"], 1, "FILE_WRONG_TYPE", '"f/below"'),
    row(["write", "@id", "a", "--text-file", "@host/missing"], 2, "USAGE", "/missing"),
  ])("file $title is $code", async ({ args, exit, code, names }) => {
    // Nothing waits for a pipe's other end: the test would not end.
    expectRefusal(await call("file", ...args), { exit, code, names });
  });

  it("a file of 2 GiB is read as far as asked, with its true size", async () => {
    const { json, code } = await callProgram("file", "read", "@id", "big", "--max-bytes", "10");
    const file = json() as unknown as FileContent;
    expect(code).toBe(0);
    expect(file).toMatchObject({
      path: "/workspace/big",
      size_bytes: 2 ** 31,
      truncated: true,
      content: "\0".repeat(10),
    });
  });

  it.each([
    row(["f", "--output", "@host/exists"], 1, "OUTPUT_EXISTS", "/exists"),
    row(["d", "--output", "@host/folder"], 1, "OUTPUT_EXISTS", "/folder"),
    row(["f", "--output", "@host/folder"], 1, "OUTPUT_EXISTS", "/folder"),
    row(["f", "--output", "@host/no/such"], 2, "OUTPUT_INVALID", "/no"),
    row(["f", "--output", "@host/exists/x"], 2, "OUTPUT_INVALID", "/exists"),
    row(["missing", "--output", "@host/new"], 1, "FILE_NOT_FOUND", '"missing"'),
    row(["p", "--output", "@host/new"], 1, "FILE_WRONG_TYPE", '"p"'),
    row(["s", "--output", "@host/new"], 1, "FILE_WRONG_TYPE", '"s"'),
    row(["f"], 2, "USAGE", "--output"),
  ])("export $title is $code and leaves the host as it was", async ({ args, exit, code, names }) => {
    expectRefusal(await call("export", "@id", ...args), { exit, code, names });
    expect(readdirSync(box.at.root).sort()).toEqual(["exists", "folder", "h"]);
    expect(readdirSync(box.at.path("folder"))).toEqual(["inside"]);
    expect(readFileSync(box.at.path("exists"), "utf8")).toBe("precious\n");
  });

  it("export takes out a file, a link and a folder with odd names, without what is no artifact", async () => {
    const out = box.at.path("exports");
    mkdirSync(out);
    const expected = { f: "file", dangling: "symlink", away: "symlink", tree: "directory", d: "directory" };
    for (const [name, type] of Object.entries(expected)) {
      const { json } = await callProgram("export", "@id", name, "--output", join(out, name), "--links", "keep");
      expect(json() as unknown as Exported).toEqual({
        workspace_id: box.id,
        workspace_path: `/workspace/${name}`,
        output_path: join(out, name),
        artifact_type: type,
        skipped_links: 0,
      });
    }
    const found = await box.at.sdk.execWorkspace(box.id, {
      command: "find d f tree away dangling ! -type p -printf '%p %y %m %l\\0' | sort -z",
    });
    const taken = await runProcess("sh", ["-c", "find d f tree away dangling -printf '%p %y %m %l\\0' | sort -z"], {
      cwd: out,
    });
    expect(taken.stdout.split("\0")).toEqual(found.stdout.split("\0"));
    expect(taken.stdout.split("\0")).toHaveLength(13);
    rmSync(out, { recursive: true });
  });
});

describe("a host that lacks something", () => {
  it("has no program but Node: a sandbox needs none of them", async () => {
    const tools = new Installation("no");
    const bin = tools.path("bin");
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, "node"));
    await withInstallation(
      async (here) => {
        expect((await here.cli(["run", "--", "echo", "inside"])).stdout).toBe("inside\n");
        expect((await here.cli(["doctor"])).stdout).toMatch(/✓ container {2}/);
      },
      { PATH: bin },
    );
    await tools[Symbol.asyncDispose]();
  });

  it("a seed that its user may not read is SEED_UNREADABLE and names the file; the folder too", async () => {
    const { stdout } = await runAsUser(`trap '$CLOCHE daemon stop > /dev/null 2>&1' EXIT
      mkdir -p project/sub closed; echo 1 > project/a; echo secret > project/sub/hidden; chmod 000 project/sub/hidden closed
      $CLOCHE workspace create --json --seed-path project | tr -d '\\n'; echo
      $CLOCHE workspace create --json --seed-path closed | tr -d '\\n'; echo
      $CLOCHE workspace create --json --seed-path closed/below | tr -d '\\n'; echo
      $CLOCHE workspace create --json --seed-path closed > /dev/null; echo $?
      ls c/workspaces 2>/dev/null | wc -l
      ls -A cache/seeds 2>/dev/null | wc -l`);
    const [hidden = "", closed = "", below = "", ...rest] = stdout.trim().split("\n");
    for (const [line, name] of [
      [hidden, "project/sub/hidden"],
      [closed, "closed"],
      [below, "closed/below"],
    ] as const) {
      const { error } = JSON.parse(line) as { error: { code: string; message: string; hint: string } };
      expect(error.code).toBe("SEED_UNREADABLE");
      expect(error.message).toContain(`/mnt/home/${name}"`);
      expect(error.hint).not.toBe("");
    }
    expect(rest).toEqual(["1", "0", "0"]);
  });

  it("a home that cannot be used is an error that says so", async () => {
    const { stdout } = await runAsUser(`mkdir locked; chmod 500 locked
      CLOCHE_HOME=$PWD/locked/h $CLOCHE workspace list --json | tr -d '\\n'; echo
      echo x > file; CLOCHE_HOME=$PWD/file $CLOCHE workspace list --json | tr -d '\\n'`);
    for (const [line, name] of [
      [stdout.split("\n")[0]!, "locked/h"],
      [stdout.split("\n")[1]!, "/file"],
    ] as const) {
      const { error } = JSON.parse(line) as { error: { code: string; message: string; hint: string } };
      expect(error).toMatchObject({ code: "DAEMON_UNREACHABLE", message: expect.stringContaining(name) as string });
      expect(error.hint).not.toBe("");
    }
  });
});
