import { expect, it } from "vitest";
import type { EngineInfo } from "../../docker-engine/engine.ts";
import { canSetCommandsApart, engineLimits } from "./engine-check.ts";

const info = (args: readonly string[]): EngineInfo => ({
  ServerVersion: "20.10",
  OperatingSystem: "Debian",
  OSType: "linux",
  Name: "here",
  KernelVersion: "6.1",
  MemoryLimit: true,
  PidsLimit: true,
  CpuCfsQuota: true,
  Runtimes: { runc: {}, runsc: { runtimeArgs: args } },
  SecurityOptions: null,
});

const held = (args: readonly string[], runtime: string | undefined): string[] =>
  engineLimits(info(args), runtime).flatMap(({ name, holds }) => (holds ? [name] : []));

it("a runtime that ignores cgroups holds no limit, and the others do", () => {
  const ignoring = ["--network=none", "--ignore-cgroups"];
  expect(held(ignoring, "runsc")).toEqual([]);
  expect(held(ignoring, "/usr/bin/runsc")).toEqual([]);
  for (const runtime of [undefined, "runc", "unknown"])
    expect(held(ignoring, runtime)).toEqual(["memory", "pids", "cpu"]);
  expect(held(["--network=none", "--ignore-cgroups=false"], "runsc")).toEqual(["memory", "pids", "cpu"]);
  expect(engineLimits(info(ignoring), "runsc")[0]?.detail).toContain("--ignore-cgroups");
});

it("commands have a memory cgroup of their own where the container may mount it and joining it is cheap", () => {
  const plain = info([]);
  expect(canSetCommandsApart(plain, undefined)).toBe(true);
  expect(canSetCommandsApart({ ...plain, CgroupVersion: "2" }, undefined)).toBe(false);
  expect(canSetCommandsApart({ ...plain, MemoryLimit: false }, undefined)).toBe(false);
  expect(canSetCommandsApart(plain, "runsc")).toBe(false);
  for (const name of ["name=apparmor", "name=selinux"])
    expect(canSetCommandsApart({ ...plain, SecurityOptions: ["name=seccomp,profile=default", name] }, undefined)).toBe(
      false,
    );
});
