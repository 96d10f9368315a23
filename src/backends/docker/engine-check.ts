import { hostname, release } from "node:os";
import { basename } from "node:path";
import { settingHost } from "../../docker-engine/endpoint.ts";
import type { DockerEngine, EngineInfo } from "../../docker-engine/engine.ts";
import { failure } from "../../model/error-codes.ts";
import type { LimitHealth } from "../../model/health.ts";
import { isGvisor } from "./container-config.ts";

/**
 * Throws BACKEND_UNAVAILABLE when the engine runs on another machine than we do (also Docker Desktop's, a virtual one): layers are folders and sockets of
 * this host's file system.
 */
export function requireSameHost(engine: DockerEngine, info: EngineInfo): void {
  const { address } = engine.endpoint;
  if (info.OSType === "linux" && info.Name === hostname() && info.KernelVersion === release()) return;
  throw failure(
    "BACKEND_UNAVAILABLE",
    `The Docker engine at ${address} runs on another machine ("${info.Name}", ${info.OperatingSystem})`,
    {
      hint: `Run cloche on that machine, or install an engine on this one (apt-get install docker.io), ${settingHost("it")}`,
      details: { address, name: info.Name, kernel: info.KernelVersion },
    },
  );
}

/** A rootless engine has no ids to give that are not its user's own. */
export function requireRootfulEngine(engine: DockerEngine, info: EngineInfo): void {
  if (!info.SecurityOptions?.some((option) => option.startsWith("name=rootless"))) return;
  throw failure("BACKEND_UNAVAILABLE", `The Docker engine at ${engine.endpoint.address} is rootless`, {
    hint: `Use the backend container, which is rootless by itself, or ${settingHost("the system's engine")}`,
  });
}

/** The name under which the engine knows an OCI runtime. Throws BACKEND_UNAVAILABLE when it does not. */
export function registeredRuntime(info: EngineInfo, runtime: string): string {
  const known = Object.keys(info.Runtimes);
  const found = [runtime, basename(runtime)].find((name) => known.includes(name));
  if (found !== undefined) return found;
  throw failure("BACKEND_UNAVAILABLE", `The Docker engine knows no runtime "${runtime}"`, {
    hint: `Register it below "runtimes" in the engine's daemon.json and restart the engine; it has: ${known.join(", ")}`,
    details: { runtimes: known },
  });
}

/** The limits of an engine without the permission to set any are ignored by it, with a warning that nobody reads. */
export function engineLimits(info: EngineInfo, runtime: string | undefined): LimitHealth[] {
  const by = `the engine, cgroup v${info.CgroupVersion ?? "1"}`;
  const args = info.Runtimes[runtime === undefined ? "" : basename(runtime)]?.runtimeArgs ?? [];
  const ignored = args.some((word) => /^--?ignore-cgroups(=true)?$/.test(word));
  const why = ignored ? `"${runtime}" is registered with --ignore-cgroups` : "the engine cannot set it on this host";
  const one = (name: LimitHealth["name"], settable: boolean): LimitHealth => ({
    name,
    holds: settable && !ignored,
    detail: settable && !ignored ? by : why,
  });
  return [
    one("memory", info.MemoryLimit),
    one("pids", info.PidsLimit),
    one("cpu", info.CpuCfsQuota),
    { name: "disk", holds: false, detail: "not enforced; /tmp, /run and /dev/shm are bounded by memory" },
  ];
}

/** Profiles by which an engine keeps a container from mounting anything. */
const NO_MOUNTS = /^name=(apparmor|selinux)/;

/**
 * Whether commands can have a memory cgroup of their own, which the guest program mounts and makes before anything else runs. gVisor's processes are none
 * of the host's; in version 2 each command would wait milliseconds for a lock of the whole system to join it.
 */
export const canSetCommandsApart = (info: EngineInfo, runtime: string | undefined): boolean =>
  (info.CgroupVersion ?? "1") === "1" &&
  engineLimits(info, runtime).some(({ name, holds }) => name === "memory" && holds) &&
  !isGvisor(runtime) &&
  !info.SecurityOptions?.some((option) => NO_MOUNTS.test(option));

/** One line for `cloche doctor`. */
export function describeEngine({ endpoint }: DockerEngine, info: EngineInfo, runtime: string | undefined): string {
  const gvisor = Object.keys(info.Runtimes).find((name) => name.startsWith("runsc"));
  const used = runtime === undefined ? "" : `, with ${runtime}`;
  return `Docker Engine ${info.ServerVersion} at ${endpoint.address}${used}; gVisor ${gvisor === undefined ? "is not registered" : `is there as "${gvisor}"`}`;
}
