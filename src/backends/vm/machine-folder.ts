import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { WallLimits } from "../../contracts/backend.ts";
import type { Rootfs } from "../../contracts/environment.ts";
import { copyDisk, makeHole } from "./disk-images.ts";

/** What is needed to start a machine on a disk again. */
export interface MachineOrigin {
  readonly rootfs: Rootfs;
  readonly limits: WallLimits;
}

/**
 * A sandbox's folder. Its disk is the machine's own while that is the first on it, else the one that another machine has left: then `spare` stands for
 * the machine's own. `machine/` is the emulator's, with its sockets.
 */
export class MachineFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  get emulator(): string {
    return join(this.path, "machine");
  }

  get disk(): string {
    return join(this.path, "disk");
  }

  get spare(): string {
    return join(this.path, "spare");
  }

  /** The seed of a machine that was thawed before it was known whose it would be. */
  get ownSeed(): string {
    return join(this.path, "seed");
  }

  /** Stands for a disk that another machine has left, where none has. */
  get unused(): string {
    return join(this.path, "unused");
  }

  get hasDisk(): boolean {
    return existsSync(this.disk);
  }

  /** Whether the sandbox's disk is one that another machine has left. */
  get isRestarted(): boolean {
    return existsSync(this.spare);
  }

  /** Whether the layers below the writable one are on the disk. */
  get isFilled(): boolean {
    return existsSync(join(this.path, "filled"));
  }

  markFilled(): void {
    writeFileSync(join(this.path, "filled"), "", { mode: 0o600 });
  }

  make(): void {
    mkdirSync(this.emulator, { recursive: true, mode: 0o711 });
    makeHole(this.unused);
  }

  /**
   * Takes what another folder has, with the machine that runs there and holds all of it open. The emulator's own folder comes
   * last: until then its process is found in the other folder.
   */
  take(other: MachineFolder): void {
    for (const name of ["spare", "disk", "unused", "seed", "machine"])
      if (existsSync(join(other.path, name))) renameSync(join(other.path, name), join(this.path, name));
  }

  /** A copy that has its name when it is whole. */
  async copyDisk(from: string, to: string, signal?: AbortSignal): Promise<void> {
    await rm(`${to}.tmp`, { force: true });
    await copyDisk(from, `${to}.tmp`, signal);
    await rename(`${to}.tmp`, to);
  }

  writeOrigin(origin: MachineOrigin): void {
    writeFileSync(join(this.path, "machine.json"), JSON.stringify(origin), { mode: 0o600 });
  }

  readOrigin(): MachineOrigin | undefined {
    try {
      return JSON.parse(readFileSync(join(this.path, "machine.json"), "utf8")) as MachineOrigin;
    } catch {
      return undefined;
    }
  }
}

/** The folder of a machine that only looks at a disk which lies elsewhere. */
export class LookingFolder extends MachineFolder {
  readonly #disk: string;

  constructor(path: string, disk: string) {
    super(path);
    this.#disk = disk;
  }

  override get disk(): string {
    return this.#disk;
  }
}
