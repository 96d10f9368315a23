import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { answersTo, callNumbers, everyCall, promisedAnswers } from "../../helpers/system-calls.ts";
import { playFilter, readFilters } from "./filter-player.ts";

const COMPILER = "aarch64-linux-gnu-gcc";
const ARM64 = 0xc000_00b7;
const X64 = 0xc000_003e;
const TIOCSTI = 0x5412;
const SIOCSPGRP = 0x8902;
const F_DUPFD = 0;
const F_SETOWN = 8;
const CLONE_VM = 0x100;
const CLONE_NEWUSER = 0x1000_0000;
const KEEPER_CLONE = CLONE_NEWUSER | 0x8000 | 17;
const S_IFIFO = 0o010000;
const S_IFCHR = 0o020000;
const AF_UNIX = 1;
const AF_VSOCK = 40;

const printer = fileURLToPath(new URL("../../../build/guest/arm64/print-filter", import.meta.url));
const filters = readFilters(execFileSync("qemu-aarch64-static", [printer], { encoding: "utf8" }));
const numbers = callNumbers(COMPILER);

function numberOf(name: string): number {
  const number = numbers.get(name);
  if (number === undefined) throw new Error(`There is no call ${name} on arm64`);
  return number;
}

/** What the filter of a purpose says to a call on arm64. */
const ask = (purpose: string, number: number, args: readonly number[] = [], machine = ARM64): string =>
  playFilter(filters.get(purpose) ?? [], { machine, number, args });

/** What it says to every call with arguments of 0. */
const answersOf = (purpose: string) =>
  answersTo(
    everyCall()
      .map(([number]) => ask(purpose, number))
      .join(" "),
    numbers,
  );

/** Of what is promised: the calls that this processor has. Some are there for old programs only, and arm64 has none. */
const onArm64 = (answers: Record<string, string>) =>
  Object.fromEntries(Object.entries(answers).filter(([name]) => /^\d+$/.test(name) || numbers.has(name)));

describe("the system call filter on arm64", () => {
  it("G-06 G-07 denies commands what is promised, by this processor's numbers, and nothing else", () => {
    const promised = onArm64(promisedAnswers());
    expect(Object.keys(promised).length).toBeGreaterThan(80);
    expect(answersOf("command")).toEqual(promised);
  });

  it("G-22 denies an emulator more, as promised", () => {
    expect(answersOf("emulator")).toEqual(onArm64(promisedAnswers({ emulator: true })));
  });

  it("G-06 denies a builtin what would make it somebody else", () => {
    for (const name of ["setuid", "setresuid", "setgroups", "capset", "execve", "execveat", "ptrace"])
      expect(ask("builtin", numberOf(name)), name).toBe("EPERM");
  });

  it("G-06 answers no call with the numbers of another processor", () => {
    for (const purpose of filters.keys()) expect(ask(purpose, numberOf("read"), [], X64)).toBe("ENOSYS");
    expect(ask("command", numberOf("read"))).toBe("passed");
  });

  it.each([
    ["command", "clone", [CLONE_NEWUSER], "EPERM"],
    ["command", "clone", [CLONE_VM], "passed"],
    ["keeper", "clone", [KEEPER_CLONE], "passed"],
    ["keeper", "clone", [CLONE_NEWUSER], "EPERM"],
    ["command", "ioctl", [0, TIOCSTI], "EPERM"],
    ["command", "ioctl", [0, SIOCSPGRP], "passed"],
    ["emulator", "ioctl", [0, SIOCSPGRP], "EPERM"],
    ["emulator", "fcntl", [0, F_SETOWN], "EPERM"],
    ["emulator", "fcntl", [0, F_DUPFD], "passed"],
    ["command", "socket", [AF_UNIX], "passed"],
    ["command", "socket", [AF_VSOCK], "EAFNOSUPPORT"],
    ["command", "mknodat", [0, 0, S_IFCHR], "EPERM"],
    ["command", "mknodat", [0, 0, S_IFIFO], "passed"],
    ["command", "prlimit64", [1], "EPERM"],
    ["command", "personality", [0x4_0000], "EPERM"],
  ] as const)("looks at arguments where they are: %s, %s %j: %s", (purpose, name, args, said) => {
    expect(ask(purpose, numberOf(name), args)).toBe(said);
  });
});
