import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, statfsSync } from "node:fs";
import { chmod, chown, mkdir, rm, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import type { IdMap } from "../../base/id-map.ts";
import type { Log } from "../../base/log.ts";
import { onAbort } from "../../base/on-abort.ts";
import { removeTree } from "../../base/remove-tree.ts";
import type { PrepareOptions } from "../../contracts/backend.ts";
import type { Rootfs } from "../../contracts/environment.ts";
import { failure } from "../../model/error-codes.ts";
import { connectGuest } from "../../guest/connect-guest.ts";
import type { BootFiles } from "./boot-files.ts";
import { ControlPort } from "./control-port.ts";
import { type DiskImages, copyDisk, makeHole } from "./disk-images.ts";
import { emulatorUser } from "./emulator-user.ts";
import { type Launched, launchMachine, whileItLives } from "./machine-process.ts";
import { CONTROL_SOCKET, type MachineShape, QMP_SOCKET, guestSocket, machineCommand } from "./qemu-arguments.ts";
import { Qmp } from "./qmp.ts";
import type { Qemu } from "./qemu.ts";
import { saveState } from "./save-state.ts";
import type { VmCache } from "./vm-cache.ts";
import { warmUp } from "./warm-up.ts";

const BOOT_MS = 120_000;
const MIB = 1024 * 1024;
/** A machine that has just booted has touched this much of its memory, and its environment is as large again. */
const NEEDED_BYTES = 512 * MIB;
const PARTS = ["memory", "state", "disk"] as const;
const FACTS_FILE = "template.json";

/** A machine that has booted and stands still, with a sandbox in it that has nothing in its workspace. */
export interface Template {
  readonly key: string;
  readonly folder: string;
  readonly shape: MachineShape;
  readonly memory: string;
  readonly state: string;
  readonly disk: string;
  readonly environment: string;
}

export interface TemplateSources {
  readonly cache: VmCache;
  readonly images: DiskImages;
  readonly idMap: IdMap;
  readonly log: Log;
}

export interface TemplateRequest extends PrepareOptions {
  readonly qemu: Qemu;
  readonly boot: BootFiles;
  readonly rootfs: Rootfs;
  readonly shape: MachineShape;
}

/** The template for an environment, a kernel, an emulator and a size; it is made when there is none that is whole. */
export async function ensureTemplate(sources: TemplateSources, request: TemplateRequest): Promise<Template> {
  const { cache, images, log } = sources;
  const { qemu, boot, rootfs, shape, signal, progress } = request;
  const key = createHash("sha256")
    .update(JSON.stringify([2, qemu.version, boot.digest, rootfs.digest, shape]))
    .digest("hex")
    .slice(0, 32);
  const environment = await images.environment(rootfs, signal);
  const path = cache.path(`templates/${key}`);
  const damage = existsSync(path) ? findDamage(path) : undefined;
  if (damage !== undefined) {
    log.warn("a frozen machine is damaged and made anew", { path, damage });
    await removeTree(path);
  }
  const freeze = async (folder: string) => {
    progress?.({ step: "booting a machine" });
    await freezeMachine(sources, request, environment, folder);
  };
  const onWait = () => progress?.({ step: "waiting for another to boot this machine" });
  const folder = await cache.make(`templates/${key}`, freeze, { signal, onWait });
  const [memory, state, disk] = PARTS.map((name) => join(folder, name)) as [string, string, string];
  return { key, folder, shape, memory, state, disk, environment };
}

/** What a file of a template was when it was made. Nothing writes to one later, so a difference is damage. */
const stampOf = (path: string): string => {
  const { size, mtimeMs } = statSync(path);
  return `${size} ${mtimeMs}`;
};

/** What a template was made of. */
export interface TemplateFacts {
  readonly qemu: string;
  readonly boot: string;
  /** Digest of the environment. */
  readonly environment: string;
  /** For people; an older version did not note them. */
  readonly environmentName?: string;
  readonly memMib?: number;
  readonly stamps: Readonly<Record<string, string>>;
}

/** Throws when there are none that can be read. */
export function readTemplateFacts(folder: string): TemplateFacts {
  return JSON.parse(readFileSync(join(folder, FACTS_FILE), "utf8")) as TemplateFacts;
}

function findDamage(folder: string): string | undefined {
  try {
    const stamps = readTemplateFacts(folder).stamps;
    return PARTS.find((name) => stamps[name] !== stampOf(join(folder, name)));
  } catch (error) {
    return messageOf(error);
  }
}

async function freezeMachine(
  { images, idMap }: TemplateSources,
  { qemu, boot, rootfs, shape, signal }: TemplateRequest,
  environment: string,
  folder: string,
): Promise<void> {
  requireRoom(dirname(folder));
  await mkdir(folder, { mode: 0o711 });
  const empty = await images.empty();
  const [memory, state, disk] = PARTS.map((name) => join(folder, name)) as [string, string, string];
  await writeFile(memory, "", { mode: 0o600 });
  await truncate(memory, shape.memMib * MIB);
  await copyDisk(await images.fresh(signal), disk, signal);
  const unused = join(folder, "unused");
  makeHole(unused);
  const user = emulatorUser(folder, idMap);
  if (user !== undefined) await chown(memory, user, user);
  const files = { memory, environment, disk, seed: empty, oldDisk: unused };
  const command = machineCommand({ qemu: qemu.program, shape, files, boot });
  const machine = await launchMachine(folder, command, user);
  const stopListening = onAbort(signal, () => void machine.process.kill());
  try {
    await whileItLives(machine, BOOT_MS, freezeRunning(folder, state), () => tooLate(machine));
  } catch (error) {
    if (signal?.aborted) throw failure("CANCELLED", "Booting a machine was cancelled", { cause: error });
    requireRoom(folder); // an emulator whose memory finds no room on the disk is ended by the kernel, without a word
    throw error;
  } finally {
    stopListening();
    await machine.process.kill();
  }
  await seal(folder, idMap, {
    ...{ qemu: qemu.version, boot: boot.digest },
    ...{ environment: rootfs.digest, environmentName: rootfs.name, memMib: shape.memMib },
  });
}

/** From the first sign of life to the state on disk. */
async function freezeRunning(folder: string, state: string): Promise<void> {
  const control = await ControlPort.connect(join(folder, CONTROL_SOCKET));
  try {
    await control.expect("built");
    const client = await connectGuest(join(folder, guestSocket(0)), undefined);
    try {
      await warmUp(client);
    } finally {
      client.close();
      await client.closed;
    }
    control.say("sync");
    await control.settled();
  } finally {
    control.close();
  }
  const qmp = await Qmp.connect(join(folder, QMP_SOCKET));
  try {
    await saveState(qmp, folder, state);
  } finally {
    qmp.close();
  }
}

/** SECURITY: no user may write the files that all machines start from (G-22). */
async function seal(folder: string, idMap: IdMap, origin: Omit<TemplateFacts, "stamps">): Promise<void> {
  for (const name of PARTS) {
    if (idMap.kind === "shifted") await chown(join(folder, name), 0, 0);
    // An emulator opens its memory by name. All other files are passed to it open.
    await chmod(join(folder, name), name === "memory" ? 0o444 : 0o400);
  }
  const left = [
    CONTROL_SOCKET,
    QMP_SOCKET,
    "unused",
    "wall.pid",
    ...Array.from({ length: 8 }, (_, at) => guestSocket(at)),
  ];
  for (const name of left) await rm(join(folder, name), { force: true });
  const stamps = Object.fromEntries(PARTS.map((name) => [name, stampOf(join(folder, name))]));
  await writeFile(join(folder, FACTS_FILE), JSON.stringify({ ...origin, stamps }), { mode: 0o644 });
}

function requireRoom(folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= NEEDED_BYTES) return;
  throw failure("DISK_FULL", `Cannot freeze a machine: less than ${NEEDED_BYTES / MIB} MiB are free in the cache`);
}

function tooLate(machine: Launched): Error {
  void machine.process.kill();
  return failure("SANDBOX_START_FAILED", `The machine did not boot within ${BOOT_MS / 1000} seconds`);
}
