import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const setup = resolve("scripts/setup");
const isRoot = process.getuid?.() === 0;
/** What the tests run, beside the project. */
const KINDS = ["agents", "model-clients", "tools"];
const GO_SOURCE = "test/fixtures/ask.go";
let folder: string;
let checkout: string;
let bin: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-setup-"));
  checkout = join(folder, "checkout");
  bin = join(folder, "bin");
  mkdirSync(join(checkout, "scripts"), { recursive: true });
  mkdirSync(join(checkout, "node_modules"));
  mkdirSync(bin);
  cpSync(setup, join(checkout, "scripts/setup"));
  for (const kind of KINDS) cpSync(`test/${kind}`, join(checkout, `test/${kind}`), { recursive: true });
  cpSync(GO_SOURCE, join(checkout, GO_SOURCE));
  writeFileSync(join(checkout, "package-lock.json"), "{}");
  writeFileSync(join(checkout, "node_modules/.package-lock.json"), "{}");
  for (const name of ["dirname", "touch", "sed"]) symlinkSync(`/usr/bin/${name}`, join(bin, name));
  fake("node", "echo v20.19.0");
  fake("npm", `echo "$@" >>${folder}/npm-calls`);
  fake("sleep", "exit 0"); // nobody waits before the next try
  chmodSync(folder, 0o755);
});
afterEach(() => rmSync(folder, { recursive: true }));

function fake(name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

/** Runs a copy that finds the fake commands and no other: the line that adds the system's folders is taken out. */
function run(args: string[] = [], asUser = false, env: Record<string, string> = {}) {
  const script = readFileSync(setup, "utf8").replace("PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin", "");
  writeFileSync(join(checkout, "scripts/setup"), script, { mode: 0o755 });
  const options = {
    encoding: "utf8" as const,
    env: { PATH: bin, ...env },
    ...(asUser && isRoot && { uid: 65534, gid: 65534 }),
  };
  return spawnSync("/bin/bash", [join(checkout, "scripts/setup"), ...args], options);
}

/** The commands that tell the packages of a list to be there, for every processor. */
const provenBy = (list: string): string[] =>
  [...readFileSync(setup, "utf8").matchAll(new RegExp(`\\b${list}=\\(([^)]*)\\)`, "g"))]
    .flatMap(([, packages = ""]) => packages.split(/\s+/))
    .map((one) => one.split(":")[1] ?? "")
    .filter((proof) => proof !== "" && !proof.includes("/"));

const haveRuntime = () =>
  ["gcc", "make", "git", "mmdebstrap", "flock", "newuidmap"].forEach((name) => fake(name, "exit 0"));

describe("scripts/setup", () => {
  it("does nothing, quickly and silently, when nothing is missing", () => {
    haveRuntime();
    const { status, stdout, stderr } = run();
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
  });

  it("finds everything that `make test` has installed on this machine", () => {
    // Commands that would install something fail here, so that this test can only look.
    for (const name of ["apt-get", "sudo", "npm"]) fake(name, "exit 1");
    rmSync(join(bin, "node"));
    const env = { PATH: `${bin}:${process.env["PATH"] ?? ""}` };
    const { status, stderr } = spawnSync(join(checkout, "scripts/setup"), ["--package", "--tests"], {
      encoding: "utf8",
      env,
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });

  it("prints the one command to run when it cannot become root", () => {
    fake("apt-get", `echo called >>${folder}/apt-calls`);
    fake("sudo", "exit 1");
    fake("git", "exit 0");
    const { status, stdout, stderr } = run([], true);
    expect(status).toBe(1);
    expect(stdout).toBe("");
    const install =
      "'apt-get update && apt-get install -y --no-install-recommends gcc make mmdebstrap util-linux uidmap'";
    expect(stderr.trimEnd().split("\n").at(-1)).toBe(`sudo sh -c ${install}`);
    rmSync(join(bin, "sudo"));
    expect(run([], true).stderr.trimEnd().split("\n").at(-1)).toBe(`su - -c ${install}`);
    expect(() => readFileSync(join(folder, "apt-calls"))).toThrow("ENOENT");
  });

  it("installs only what is missing, through sudo when that asks for no password", () => {
    haveRuntime();
    rmSync(join(bin, "mmdebstrap"));
    fake("apt-get", "exit 1");
    fake("sudo", `[ "$2" = true ] && exit 0; shift 4; echo "$@" >${folder}/sudo-calls; echo many lines`);
    chmodSync(folder, 0o777);
    const { status, stderr } = run([], true);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "Installing mmdebstrap\n" });
    expect(readFileSync(join(folder, "sudo-calls"), "utf8")).toBe("setup mmdebstrap\n");
  });

  it("shows what an installation said when it failed for the third time", () => {
    haveRuntime();
    rmSync(join(bin, "mmdebstrap"));
    fake("apt-get", "exit 1");
    fake("sudo", `[ "$2" = true ] && exit 0; echo no such package >&2; exit 100`);
    const again = "It failed; trying again\n".repeat(2);
    expect(run([], true)).toMatchObject({ status: 100, stderr: `Installing mmdebstrap\n${again}no such package\n` });
  });

  it("goes on when an installation failed for a moment", () => {
    haveRuntime();
    rmSync(join(bin, "mmdebstrap"));
    fake("apt-get", "exit 1");
    fake("sudo", `[ "$2" = true ] && exit 0; [ -e ${folder}/tried ] && exit 0; : >${folder}/tried; exit 100`);
    chmodSync(folder, 0o777);
    expect(run([], true)).toMatchObject({ status: 0, stderr: "Installing mmdebstrap\nIt failed; trying again\n" });
  });

  it("wants more for tests, and names each package once", () => {
    haveRuntime();
    fake("apt-get", "exit 1");
    fake("sudo", "exit 1");
    const { stderr } = run(["--tests", "--bench"], true);
    expect(stderr).toMatch(/docker\.io.* tmux .* zsh fish/);
    expect(stderr.match(/docker\.io/g)).toHaveLength(1);
  });

  it("says what to do about an old node, no node, and an unknown argument", () => {
    haveRuntime();
    fake("node", "echo v20.18.3");
    expect(run()).toMatchObject({ status: 1, stderr: expect.stringContaining("node is v20.18.3") as string });
    rmSync(join(bin, "node"));
    expect(run()).toMatchObject({ status: 1, stderr: expect.stringContaining("hint: install Node.js") as string });
    expect(run(["--nonsense"])).toMatchObject({ status: 2, stderr: expect.stringContaining('"--nonsense"') as string });
  });

  it("installs npm packages when the lock file is newer, once", () => {
    haveRuntime();
    utimesSync(join(checkout, "node_modules/.package-lock.json"), 1, 1);
    expect(run().status).toBe(0);
    expect(run().status).toBe(0);
    expect(readFileSync(join(folder, "npm-calls"), "utf8").trim().split("\n")).toEqual([
      "install --no-audit --no-fund --no-update-notifier --loglevel=error",
    ]);
  });

  it("installs what the tests run once for each set of versions, and keeps nothing of an attempt that failed", () => {
    haveRuntime();
    for (const name of [...provenBy("tests"), ...provenBy("cross")]) fake(name, "exit 0");
    for (const name of ["cp", "mkdir", "mktemp", "mv", "rm", "sha256sum"])
      symlinkSync(`/usr/bin/${name}`, join(bin, name));
    const env = { XDG_CACHE_HOME: join(folder, "cache") };
    const installed = () => readdirSync(join(folder, "cache/cloche-tests"));
    const tests = () => run(["--tests"], false, env);

    fake("npm", "exit 1");
    expect(tests().status).not.toBe(0);
    expect(installed()).toEqual([]);
    fake("npm", `echo "$@" >>${folder}/npm-calls; : >installed`);
    fake("go", 'cd "${3%/*}" && : >installed');
    expect(tests().status).toBe(0);
    expect(tests()).toMatchObject({ status: 0, stderr: "" });
    const call =
      "install --ignore-scripts --no-package-lock --no-audit --no-fund --no-update-notifier --loglevel=error";
    expect(readFileSync(join(folder, "npm-calls"), "utf8").trim().split("\n")).toEqual(KINDS.map(() => call));
    writeFileSync(join(checkout, "test/agents/package.json"), "{}");
    expect(tests().status).toBe(0);
    expect(installed()).toHaveLength(KINDS.length + 2);
    expect(
      installed().every((name) => readdirSync(join(folder, "cache/cloche-tests", name)).includes("installed")),
    ).toBe(true);
  });
});
