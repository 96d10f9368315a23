import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { PROPOSED } from "../../model/proposal.ts";
import { installCommand, stepCommand } from "./change-script.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cl-cs-"));
  mkdirSync(join(folder, "bin"));
  symlinkSync("/bin/grep", join(folder, "bin/grep"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A program that writes down its words, each on a line, and prints something. */
const program = (name: string, prints = ""): void =>
  writeFileSync(
    join(folder, "bin", name),
    `#!/bin/sh\n{ echo "= ${name}"; printf '%s\\n' "$@"; } >>${folder}/called\nprintf '%s' '${prints}'\n`,
    { mode: 0o755 },
  );

/** What an environment with these programs, and no others, does with the packages. */
function install(packages: readonly string[], ...programs: string[]) {
  for (const name of programs) program(name);
  const [shell = "", ...words] = installCommand(packages);
  const { status, stderr } = spawnSync(shell, words, {
    cwd: folder,
    env: { PATH: join(folder, "bin") },
    encoding: "utf8",
  });
  const called = status === 69 ? "" : readFileSync(join(folder, "called"), "utf8");
  const calls = called.split(/^= /m).slice(1);
  return { status, stderr, calls: calls.map((one) => one.trimEnd().split("\n")) };
}

const HOSTILE = ["$(touch made)", "`touch made`", "; touch made", "a b", "*", "'", '"', "\\", "${HOME}"];

it.each([
  ["apk", ["apk", "add", "--no-cache"]],
  ["microdnf", ["microdnf", "install", "-y"]],
  ["dnf", ["dnf", "install", "-y"]],
])("packages are installed by %s, each name as it is", (manager, words) => {
  expect(install(["jq", ...HOSTILE], manager)).toEqual({
    status: 0,
    stderr: "",
    calls: [[...words, "jq", ...HOSTILE]],
  });
  expect(() => readFileSync(join(folder, "made"))).toThrow("ENOENT");
});

it("packages are installed by apt-get, after its lists are fetched, each name as it is", () => {
  program("cat", "deb http://deb.example.test stable main");
  const { status, calls } = install(["jq", ...HOSTILE], "apt-get", "mkdir");
  expect(status).toBe(0);
  const [fetched = [], installed = []] = calls.filter(([name]) => name === "apt-get");
  expect(fetched.at(-1)).toBe("update");
  expect(installed).toContain("install");
  expect(installed.slice(-HOSTILE.length - 1)).toEqual(["jq", ...HOSTILE]);
  expect(() => readFileSync(join(folder, "made"))).toThrow("ENOENT");
});

it("an environment that lists no sources, or has no manager, says so and calls nothing", () => {
  program("cat");
  expect(install(["jq"], "apt-get", "mkdir")).toMatchObject({
    status: 69,
    stderr: expect.stringContaining("lists no sources") as string,
  });
  rmSync(join(folder, "bin/apt-get"));
  expect(install(["jq"])).toMatchObject({
    status: 69,
    stderr: expect.stringContaining("no package manager") as string,
  });
});

it("a list of packages that cannot be fetched installs nothing", () => {
  program("cat", "deb http://deb.example.test stable main");
  program("mkdir");
  const failing = `#!/bin/sh\necho "= apt-get $*" >>${folder}/called\nexit 100\n`;
  writeFileSync(join(folder, "bin/apt-get"), failing, { mode: 0o755 });
  const { status, calls } = install(["jq"]);
  expect(status).toBe(100);
  expect(calls.filter(([line]) => line?.includes("install"))).toEqual([]);
});

it.each([...HOSTILE, "-o", "--allow-unauthenticated", "./local.deb", "/etc/passwd", "a\nb", "", "ä", "x".repeat(129)])(
  "%j is no name of a package",
  (name) => {
    expect(PROPOSED["capability-block"].safeParse({ packages: [name] }).success).toBe(false);
  },
);

it.each(["jq", "libssl-dev", "python3.11", "g++", "libc6:amd64", "jq=1.6-2.1", "1password", "a~rc1"])(
  "%j is a name of a package",
  (name) => {
    expect(PROPOSED["capability-block"].safeParse({ packages: [name] }).success).toBe(true);
  },
);

it("a step ends at its first command that fails", () => {
  const [shell = "", ...words] = stepCommand("echo one; false; echo two");
  expect(spawnSync(shell, words, { encoding: "utf8" })).toMatchObject({ status: 1, stdout: "one\n" });
});
