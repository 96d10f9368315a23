import { describe, expect, it } from "vitest";
import { privateMemory } from "./private-memory.ts";
import { type MachineOptions, machineCommand } from "./qemu-arguments.ts";

const options: MachineOptions = {
  qemu: "qemu",
  shape: { accelerator: "tcg", memMib: 512, vcpuCount: 2 },
  files: { memory: "/m", environment: "/e", disk: "/d", seed: "/s", oldDisk: "/o" },
  boot: { digest: "x", kernel: "/k", initrd: "/i", kernelHead: "/h" },
  state: "/state",
};

/** Name of what the launcher opens as that descriptor, and how. */
const passed = (launcher: readonly string[], fd: number) => launcher.slice((fd - 10) * 2, (fd - 10) * 2 + 2);

describe("machineCommand()", () => {
  it("has no network device and names no path of the host but the emulator's own", () => {
    const { program } = machineCommand(options);
    const text = program.join(" ");
    expect(text).toContain("-nic none");
    expect(text).toMatch(/-sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny/);
    for (const path of ["/m", "/e", "/d", "/s", "/o", "/k", "/h", "/state"])
      expect(
        program.some((word) => word.endsWith(`=${path}`) || word === path),
        path,
      ).toBe(false);
  });

  it("opens the template's memory for reading only when it thaws, and what a machine writes for writing", () => {
    const { launcher, stateFd, env } = machineCommand(options);
    expect(passed(launcher, 10)).toEqual(["--read", "/m"]);
    expect(env["PRIVATE_MEMORY_FILE"]).toBe("/proc/self/fd/10");
    expect(passed(launcher, Number(env["LD_PRELOAD"]?.split("/").at(-1)))).toEqual(["--read", privateMemory()]);
    expect(passed(launcher, stateFd)).toEqual(["--read", "/state"]);
    const written = launcher.flatMap((word, at) => (word === "--write" ? [launcher[at + 1]] : []));
    expect(written).toEqual(["/d", "/o"]);
  });

  it("freezes with the same devices as it thaws with", () => {
    const devices = ({ program }: { program: string[] }) =>
      program.flatMap((word, at) => (["-device", "-M", "-m", "-smp", "-cpu"].includes(word) ? [program[at + 1]] : []));
    expect(devices(machineCommand({ ...options, state: undefined }))).toEqual(devices(machineCommand(options)));
  });
});
