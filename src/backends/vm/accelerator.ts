import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { chown, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isClocheError, messageOf } from "../../base/errors.ts";
import type { IdMap } from "../../base/id-map.ts";
import { removeTree } from "../../base/remove-tree.ts";
import { failure } from "../../model/error-codes.ts";
import type { ReportProgress } from "../../model/progress.ts";
import type { BootFiles } from "./boot-files.ts";
import { ControlPort } from "./control-port.ts";
import type { DiskImages } from "./disk-images.ts";
import { emulatorUser } from "./emulator-user.ts";
import { kvmPermissions, whyNoKvm } from "./kvm-device.ts";
import { launchMachine, whileItLives } from "./machine-process.ts";
import { type Accelerator, CONTROL_SOCKET, machineCommand } from "./qemu-arguments.ts";
import type { Qemu } from "./qemu.ts";
import type { VmCache } from "./vm-cache.ts";

/** With acceleration a kernel is up in a second; one that hangs would do so for ever. */
const PROBE_MS = { kvm: 10_000, tcg: 90_000 };
const NAMES = { kvm: "KVM", tcg: "emulation" };
const PROBE_MIB = 256;

export interface Acceleration {
  readonly accelerator: Accelerator;
  /** Why this one. */
  readonly reason: string;
}

interface Sources {
  readonly cache: VmCache;
  readonly images: DiskImages;
  readonly idMap: IdMap;
}

/**
 * KVM when a machine has really booted with it, else emulation: the device may be there and hang every guest. Either is proved by booting, once for each
 * boot of the host; the answer is kept in the cache. Throws when no machine boots at all.
 */
export async function chooseAccelerator(
  sources: Sources,
  qemu: Qemu,
  boot: BootFiles,
  progress?: ReportProgress,
): Promise<Acceleration> {
  const { cache, idMap } = sources;
  const file = await cache.make(answerName(qemu.version, boot.digest, idMap), async (path) => {
    progress?.({ step: "trying whether a machine boots" });
    const problem = whyNoKvm(idMap.kind === "shifted") ?? (await tryToBoot("kvm", sources, qemu, boot));
    const emulated = problem === undefined ? undefined : await tryToBoot("tcg", sources, qemu, boot);
    if (emulated !== undefined) throw isClocheError(emulated) ? emulated : nothingBoots(emulated);
    const answer: Acceleration =
      problem === undefined
        ? { accelerator: "kvm", reason: "a machine booted with it" }
        : { accelerator: "tcg", reason: problem.message };
    await writeFile(path, JSON.stringify(answer));
  });
  return JSON.parse(readFileSync(file, "utf8")) as Acceleration;
}

/** The name in the cache of the answer for this boot of the host, and for what may change while it runs: who may use the device, and whether users may make namespaces. */
export function answerName(qemuVersion: string, boot: string, idMap: IdMap): string {
  const settings = ["kernel/random/boot_id", ...(idMap.kind === "single" ? ["user/max_user_namespaces"] : [])];
  const host = settings.map((name) => readFileSync(`/proc/sys/${name}`, "latin1").trim());
  const versions = createHash("sha256")
    .update(JSON.stringify([qemuVersion, boot, kvmPermissions(), ...host]))
    .digest("hex");
  return `accelerators/${versions.slice(0, 32)}`;
}

const nothingBoots = ({ message }: Error): Error =>
  failure("BACKEND_UNAVAILABLE", `No machine boots on this host: ${message}`, {
    hint: "Run QEMU by hand to see more, or use another backend",
  });

async function booted(folder: string): Promise<void> {
  const control = await ControlPort.connect(join(folder, CONTROL_SOCKET));
  try {
    await control.expect("booted");
  } finally {
    control.close();
  }
}

/** Why no machine boots; nothing when one does. */
async function tryToBoot(
  accelerator: Accelerator,
  { cache, images, idMap }: Sources,
  qemu: Qemu,
  boot: BootFiles,
): Promise<Error | undefined> {
  const folder = await cache.makeWorkFolder("boot");
  try {
    const empty = await images.empty();
    const memory = join(folder, "memory");
    const disk = join(folder, "disk");
    const user = emulatorUser(folder, idMap);
    for (const path of [memory, disk]) await writeFile(path, "", { mode: 0o600 });
    await truncate(memory, PROBE_MIB * 1024 * 1024);
    if (user !== undefined) await chown(memory, user, user);
    const files = { memory, disk, environment: empty, seed: empty, oldDisk: disk };
    const shape = { accelerator, memMib: PROBE_MIB, vcpuCount: 1 };
    const command = machineCommand({ qemu: qemu.program, shape, files, boot });
    const machine = await launchMachine(folder, command, user);
    try {
      const most = PROBE_MS[accelerator];
      const late = () => new Error(`no machine booted within ${most / 1000} seconds`);
      await whileItLives(machine, most, booted(folder), late);
    } finally {
      await machine.process.kill();
    }
    return undefined;
  } catch (error) {
    // What the host lacks is told as it is, with what to do about it.
    if (isClocheError(error) && error.code === "BACKEND_UNAVAILABLE") return error;
    return new Error(`${NAMES[accelerator]}: ${messageOf(error)}`);
  } finally {
    await removeTree(folder);
  }
}
