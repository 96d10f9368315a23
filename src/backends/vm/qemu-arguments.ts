import type { BootFiles } from "./boot-files.ts";
import { kvmGroup } from "./kvm-device.ts";
import { privateMemory } from "./private-memory.ts";

export type Accelerator = "kvm" | "tcg";

/** Ports by which the host reaches the guest program; each carries one connection at a time. */
export const GUEST_PORTS = 8;
/** The one that is the gate's: a port takes one connection at a time, and the gate's process does not know which of the others are in use. */
export const GATE_PORT = GUEST_PORTS - 1;
/** As many are the daemon's, from the first on. */
export const DAEMON_PORTS = GATE_PORT;
export const CONTROL_SOCKET = "control.sock";
export const QMP_SOCKET = "qmp.sock";
export const CONTROL_PORT_NAME = "cloche.control";
export const guestSocket = (port: number): string => `guest.${port}.sock`;

/** The launcher passes descriptors on from this number, in the order in which they are named. */
const FIRST_FD = 10;
/** How the library is told which file is the memory. */
const MEMORY_VARIABLE = "PRIVATE_MEMORY_FILE";

export interface MachineShape {
  readonly accelerator: Accelerator;
  readonly memMib: number;
  readonly vcpuCount: number;
}

/** Files of a machine. Its disks are, in this order, the environment, its own, the seed, and one that another machine has left. */
export interface MachineFiles {
  readonly memory: string;
  readonly environment: string;
  readonly disk: string;
  readonly seed: string;
  readonly oldDisk: string;
}

export interface MachineCommand {
  /** Words for the launcher, before `--`. */
  readonly launcher: string[];
  readonly program: string[];
  readonly env: Record<string, string>;
  /** The descriptor of the saved state, for one that is thawed. */
  readonly stateFd: number;
}

export interface MachineOptions {
  readonly qemu: string;
  readonly shape: MachineShape;
  readonly files: MachineFiles;
  readonly boot: BootFiles;
  /** A state to load instead of booting. */
  readonly state?: string | undefined;
}

/** Collects descriptors and their numbers. */
class Passed {
  readonly words: string[] = [];
  #next = FIRST_FD;

  add(kind: "--read" | "--write" | "--listen", name: string): number {
    this.words.push(kind, name);
    return this.#next++;
  }
}

/** How a machine is started. A machine that was frozen is thawed with the same devices, so both are told here. */
export function machineCommand(options: MachineOptions): MachineCommand {
  const { qemu, shape, files, boot, state } = options;
  const passed = new Passed();
  const thaws = state !== undefined;
  const memoryPath = `/proc/self/fd/${passed.add(thaws ? "--read" : "--write", files.memory)}`;
  const listening = (name: string) => passed.add("--listen", name);
  const preload = `/proc/self/fd/${passed.add("--read", privateMemory())}`;
  // prettier-ignore
  const program = [
    qemu, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
    "-M", "pc,usb=off,vmport=off,smbus=off,graphics=off,hpet=off,memory-backend=ram",
    ...accelerate(shape.accelerator),
    "-smp", String(shape.vcpuCount), "-m", String(shape.memMib),
    "-object", `memory-backend-file,id=ram,size=${shape.memMib}M,mem-path=${memoryPath},share=on`,
    // SECURITY: no way to a network, and no call that starts a program or gains a privilege (G-22).
    "-nic", "none", "-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
    "-device", "virtio-rng-pci", "-device", "virtio-serial-pci,max_ports=16",
    ...port("control", listening(CONTROL_SOCKET), CONTROL_PORT_NAME),
    ...Array.from({ length: GUEST_PORTS }, (_, at) => port(`guest${at}`, listening(guestSocket(at)), `cloche.guest.${at}`)).flat(),
    "-chardev", `socket,id=qmp,fd=${listening(QMP_SOCKET)},server=on,wait=off`, "-mon", "chardev=qmp,mode=control",
    ...disk(passed, "environment", files.environment, false),
    ...disk(passed, "own", files.disk, true),
    ...disk(passed, "seed", files.seed, false),
    ...disk(passed, "old", files.oldDisk, true),
    "-chardev", thaws ? "null,id=console" : "stdio,id=console,signal=off", "-serial", "chardev:console",
    ...(thaws ? ["-kernel", at(passed, boot.kernelHead), "-append", "thaw", "-incoming", "defer"]
              : ["-kernel", at(passed, boot.kernel), "-initrd", at(passed, boot.initrd), "-append", kernelLine(shape.accelerator)]),
  ];
  const stateFd = thaws ? passed.add("--read", state) : -1;
  const group = shape.accelerator === "kvm" ? kvmGroup() : undefined;
  return {
    launcher: [...(group === undefined ? [] : ["--group", String(group)]), ...passed.words],
    program,
    env: thaws ? { LD_PRELOAD: preload, [MEMORY_VARIABLE]: memoryPath } : {},
    stateFd,
  };
}

const at = (passed: Passed, file: string): string => `/proc/self/fd/${passed.add("--read", file)}`;

// prettier-ignore
const port = (id: string, fd: number, name: string): string[] => [
  "-chardev", `socket,id=${id},fd=${fd},server=on,wait=off`, "-device", `virtserialport,chardev=${id},name=${name}`,
];

/** A descriptor set: the emulator takes a disk by its descriptor, and needs no right to the file. */
function disk(passed: Passed, id: string, file: string, writable: boolean): string[] {
  const fd = passed.add(writable ? "--write" : "--read", file);
  const node = `driver=raw,node-name=${id},read-only=${writable ? "off" : "on"}`;
  // prettier-ignore
  return [
    "-add-fd", `fd=${fd},set=${fd}`,
    "-blockdev", `${node},file.driver=file,file.filename=/dev/fdset/${fd},file.locking=off,file.discard=unmap`,
    "-device", `virtio-blk-pci,drive=${id}`,
  ];
}

/**
 * Emulated, a program is translated when it first runs, and again wherever it lies in memory: so its place is always the same, and what the kernel need not
 * check is left out. The wall is the machine.
 */
function kernelLine(accelerator: Accelerator): string {
  const common = "console=ttyS0 quiet loglevel=3 panic=-1 audit=0 lsm=capability nowatchdog random.trust_cpu=on";
  const emulated = accelerator === "tcg" ? " norandmaps mitigations=off tsc=reliable init_on_alloc=0" : "";
  return `${common}${emulated} rdinit=/guest -- machine`;
}

/**
 * How much of what was translated an emulator keeps. Where it is full all of it goes, and the program begins anew: with 32 an agent of 360 MB was translating most of
 * the time. It is memory only as far as it is used.
 */
const TRANSLATED_MIB = 128;

const accelerate = (accelerator: Accelerator): string[] =>
  accelerator === "kvm"
    ? ["-accel", "kvm", "-cpu", "host"]
    : ["-accel", `tcg,tb-size=${TRANSLATED_MIB}`, "-cpu", "max,la57=off"];
