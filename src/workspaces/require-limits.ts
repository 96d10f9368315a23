import type { Backend, WallLimits } from "../contracts/backend.ts";
import { failure } from "../model/error-codes.ts";
import { hostSize, type HostSize } from "./host-size.ts";
import { argument, way } from "../model/hint.ts";

/** The limits to check. One that is left out is not checked. */
type Stated = { readonly [Name in "vcpuCount" | "memMib"]?: WallLimits[Name] | undefined };

/**
 * Refuses limits that this host cannot give, before anything is made. A machine with more processors than the host takes minutes to boot, because they wait
 * for each other in turns; one with more memory ends whatever the kernel picks when it is used. A container would only never meet such a limit, but the same
 * request has to mean the same on every backend.
 */
export function requireLimits(
  { name, smallestMemMib = 0 }: Pick<Backend, "name" | "smallestMemMib">,
  { vcpuCount = 1, memMib = smallestMemMib }: Stated,
  host: HostSize = hostSize(),
): void {
  if (vcpuCount > host.processors) {
    throw failure(
      "INVALID_ARGUMENT",
      `A workspace cannot have ${vcpuCount} processors: this host has ${host.processors}`,
      {
        hint: [way`Give ${argument("vcpu_count")} (limits.vcpu_count in config.yaml) of ${host.processors} or less`],
      },
    );
  }
  if (memMib > host.memMib) {
    throw failure(
      "INVALID_ARGUMENT",
      `A workspace cannot have ${memMib} MiB of memory: this host has ${host.memMib} MiB`,
      {
        hint: [way`Give ${argument("mem_mib")} (limits.mem_mib in config.yaml) of less than ${host.memMib}`],
      },
    );
  }
  if (memMib < smallestMemMib) {
    throw failure("INVALID_ARGUMENT", `${memMib} MiB of memory are too few for a machine of backend "${name}"`, {
      hint: [way`Give ${argument("mem_mib")} (limits.mem_mib in config.yaml) of ${smallestMemMib} or more`],
    });
  }
}
