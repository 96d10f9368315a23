import { mkdirSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { removeTree } from "../../src/base/remove-tree.ts";
import { StubControlPort } from "./stub-control-port.ts";
import type { StubDisks } from "./stub-disks.ts";
import { StubGuest } from "./stub-guest.ts";
import { talkQmp } from "./stub-qmp.ts";

interface Place {
  /** Where it keeps what it has; made anew. */
  readonly folder: string;
  readonly disks: StubDisks;
}

/**
 * What runs in the place of one machine, as long as its emulator does. The first process of a machine is played here; the guest program is the real one. What
 * was written is on the machine's disk when it has ended by itself. One that is frozen and thawed begins anew: of a sandbox in it there was nothing yet.
 */
export class StubMachine {
  readonly ended: Promise<void>;
  readonly #pid: number;
  readonly #argv: readonly string[];
  readonly #folder: string;
  readonly #disks: StubDisks;
  #emulator: Socket | undefined;
  #isOver = false;
  #tellEnd = (): void => undefined;
  #guest: StubGuest | undefined;
  /** Whether it is the sandbox's that it is to be. Until then nobody is answered. */
  #isOwn = false;
  #waiting: Socket[] = [];
  #isBooted: boolean;
  #hostname = "cloche";
  #disk = "own";
  #hasSeed = false;

  constructor(pid: number, { folder, disks }: Place) {
    this.#pid = pid;
    this.#argv = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    this.#folder = folder;
    this.#disks = disks;
    this.#isBooted = this.#argv.includes("-incoming");
    this.ended = new Promise((done) => (this.#tellEnd = done));
    this.#makeFolders();
  }

  /** Takes what an emulator was connected to by that name. */
  take(name: string, socket: Socket): void {
    if (name === "machine") {
      this.#emulator = socket.resume();
      socket.once("close", () => void this.end());
    } else if (name === "qmp") {
      const stop = (): void => void (this.#isOwn = false);
      talkQmp(socket, { process: `/proc/${this.#pid}`, isFresh: !this.#argv.includes("-incoming"), stop });
    } else if (name === "control") {
      const port = new StubControlPort(socket, (word, rest) => this.#obey(port, word, rest));
      if (!this.#isBooted) void this.#boot(port);
    } else if (this.#isOwn) {
      this.#guest?.join(socket);
    } else {
      this.#waiting.push(socket);
    }
  }

  async end(): Promise<void> {
    if (this.#isOver) {
      await this.ended;
      return;
    }
    this.#isOver = true;
    this.#emulator?.destroy();
    for (const socket of this.#waiting) socket.destroy();
    await this.#guest?.end();
    await removeTree(this.#folder);
    this.#tellEnd();
  }

  /** By what a kernel prints and a sandbox that has nothing in its workspace. */
  async #boot(port: StubControlPort): Promise<void> {
    this.#isBooted = true;
    port.say("booted");
    try {
      await this.#begin(0);
      port.say("built");
    } catch (error) {
      port.say(`E${(error as Error).message}`);
    }
  }

  async #obey(port: StubControlPort, word: string, rest: string): Promise<void> {
    if (word === "hostname") this.#hostname = rest;
    else if (word === "old-disk") await this.#moveToOldDisk();
    else if (word === "seed") this.#hasSeed = true;
    else if (word === "layer") await port.receive(join(this.#store, "layers", rest));
    else if (word === "workspace") await this.#begin(Number(rest));
    else if (word === "renew") await this.#begin(0);
    else if (word === "ready") port.say(`ready ${rest}`);
    else if (!["time", "entropy", "sync"].includes(word)) throw new Error(`the stub has no word ${word}`);
  }

  async #moveToOldDisk(): Promise<void> {
    await this.#guest?.end();
    this.#disk = "old";
    await removeTree(join(this.#folder, "disk"));
    mkdirSync(join(this.#folder, "disk"));
    await this.#disks.read(this.#device("old"), join(this.#folder, "disk"));
    this.#makeFolders();
  }

  /** Has the guest program begin, once more where it runs. */
  async #begin(layers: number): Promise<void> {
    await this.#guest?.end();
    const environment = await this.#disks.files(this.#device("environment"));
    const seed = this.#hasSeed ? await this.#disks.files(this.#device("seed")) : undefined;
    if (this.#isOver) throw new Error("the emulator has ended");
    const memoryBytes = (Number(this.#argv[this.#argv.indexOf("-m") + 1]) * 1024 * 1024) / 2;
    const guest = new StubGuest({
      folder: this.#folder,
      environment,
      seed,
      layers,
      memoryBytes,
      hostname: this.#hostname,
    });
    this.#guest = guest;
    void guest.ended.then((wasAsked) => (wasAsked ? undefined : this.#switchOff()));
    await guest.isThere();
    this.#isOwn = true;
    for (const socket of this.#waiting.splice(0)) guest.join(socket);
  }

  async #switchOff(): Promise<void> {
    try {
      await this.#disks.write(this.#device(this.#disk), join(this.#folder, "disk"));
    } catch {
      // an emulator that is killed meanwhile loses it
    }
    await this.end();
  }

  #makeFolders(): void {
    const system = join(this.#folder, "disk/root");
    const made = [join(this.#folder, "root"), join(this.#folder, "port"), join(system, "upper"), join(system, "work")];
    for (const folder of [...made, join(this.#store, "layers"), join(this.#store, "baseline")])
      mkdirSync(folder, { recursive: true });
  }

  get #store(): string {
    return join(this.#folder, "disk/workspace");
  }

  /** The file of a disk, which the emulator has open. */
  #device(name: string): string {
    const words = this.#argv.find((word) => word.includes(`node-name=${name},`)) ?? "";
    const fd = /file\.filename=\/dev\/fdset\/(\d+)/.exec(words)?.[1];
    if (fd === undefined) throw new Error(`the machine has no disk ${name}`);
    return `/proc/${this.#pid}/fd/${fd}`;
  }
}
