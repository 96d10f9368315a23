import { mkdirSync } from "node:fs";
import { join } from "node:path";

/** The smallest sandbox there is, to prove that a wall works: the guest program over an empty root. */
export function emptySandbox(directory: string, sandboxName: string, ociRuntime: string | undefined) {
  const [root, baseline] = [join(directory, "empty-root"), join(directory, "empty-baseline")];
  for (const path of [root, baseline]) mkdirSync(path, { recursive: true, mode: 0o755 });
  return {
    sandboxName,
    directory,
    rootfs: { name: "empty", digest: "0", root, hostPaths: [], coveredPaths: [] },
    baseline,
    layers: [],
    hostname: "cloche-probe",
    limits: { vcpuCount: 1, memMib: 256, pids: 64, diskMib: undefined },
    ociRuntime,
  };
}
