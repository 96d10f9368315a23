import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { type Socket, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeTree } from "../../src/base/remove-tree.ts";
import { PROJECT } from "./installation.ts";
import { StubMachine } from "./stub-machine.ts";
import { StubDisks } from "./stub-disks.ts";

const FIXTURES = join(PROJECT, "test/fixtures");
/** It is never booted. Its modules count as built in, so none is loaded. */
const KERNEL = "0-stub";
const MODULES = ["virtio_pci", "virtio_blk", "virtio_console", "virtio_rng", "erofs", "overlay", "ext4"];

/**
 * Stands in for `qemu-system-x86_64`, and for the kernel that it boots. The program itself runs where the real one does: in a cell, without a right. So it hands
 * its sockets on to this process, by a folder that a cell shows, and what stands for a machine runs here: the guest program, in namespaces of this host. Needs
 * root and bubblewrap.
 */
export class StubEmulator implements AsyncDisposable {
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), "cl-em-")));
  readonly #disks = new StubDisks(this.#path("images"));
  readonly #machines = new Map<number, StubMachine>();
  readonly #server = createServer((socket) => this.#listen(socket.on("error", () => undefined)));

  static async start(): Promise<StubEmulator> {
    const emulator = new StubEmulator();
    await emulator.#start();
    return emulator;
  }

  /** The first folder of the `PATH` of whoever is to find it. */
  get programs(): string {
    return this.#path("bin");
  }

  /** Variables of the installation that is to use it, besides `PATH`. */
  get env(): { CLOCHE_VM_KERNEL: string } {
    return { CLOCHE_VM_KERNEL: this.#path("kernel") };
  }

  /** The processes that stand for the emulators of machines. */
  get pids(): number[] {
    return [...this.#machines.keys()];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#machines.values()].map((machine) => machine.end()));
    await new Promise((done) => this.#server.close(done));
    await removeTree(this.#folder);
  }

  #path(...parts: string[]): string {
    return join(this.#folder, ...parts);
  }

  async #start(): Promise<void> {
    const made = ["bin", "lib", "share/qemu", "kernel/boot", `kernel/lib/modules/${KERNEL}`, "images", "machines"];
    for (const name of made) mkdirSync(this.#path(name), { recursive: true });
    const modules = MODULES.map((name) => `kernel/${name}.ko\n`).join("");
    writeFileSync(this.#path("kernel/boot", `vmlinuz-${KERNEL}`), Buffer.alloc(8192));
    writeFileSync(this.#path("kernel/lib/modules", KERNEL, "modules.builtin"), modules);
    // Copies: a cell shows what is beside the program, and the socket is this test's.
    copyFileSync(join(FIXTURES, "emulator/qemu-system-x86_64"), this.#path("bin/qemu-system-x86_64"));
    copyFileSync(join(FIXTURES, "smolvm/relay.pl"), this.#path("lib/relay.pl"));
    const socket = this.#path("share/qemu/machines.sock");
    await new Promise<void>((done) => this.#server.listen(socket, done));
    chmodSync(socket, 0o666); // each emulator is another user
  }

  /** The first line of a connection says whose it is: `PID NAME`. */
  #listen(socket: Socket): void {
    socket.once("data", (chunk: Buffer) => {
      socket.pause();
      const end = chunk.indexOf("\n");
      const [pid, name = ""] = chunk.toString("latin1", 0, end).split(" ");
      if (end + 1 < chunk.length) socket.unshift(chunk.subarray(end + 1));
      this.#machineOf(Number(pid)).take(name, socket);
    });
  }

  #machineOf(pid: number): StubMachine {
    const known = this.#machines.get(pid);
    if (known) return known;
    const machine = new StubMachine(pid, { folder: this.#path("machines", String(pid)), disks: this.#disks });
    this.#machines.set(pid, machine);
    void machine.ended.then(() => this.#machines.delete(pid));
    return machine;
  }
}
