import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { guestProgram } from "../../walls/guest-program.ts";
import { packInitrd } from "./initrd.ts";
import { type Kernel, moduleFiles } from "./kernel.ts";
import type { VmCache } from "./vm-cache.ts";

const NEEDED_MODULES = ["virtio_pci", "virtio_blk", "virtio_console", "virtio_rng", "erofs", "overlay", "ext4"];
const SECTOR = 512;
const SETUP_SECTORS_AT = 0x1f1;

/** What a machine boots from, and what one that is thawed gets in its place. */
export interface BootFiles {
  /** Of everything that is in them. */
  readonly digest: string;
  readonly kernel: string;
  readonly initrd: string;
  /** The head of the kernel: an emulator that loads a frozen machine wants one, and never runs it. */
  readonly kernelHead: string;
}

export async function ensureBootFiles(cache: VmCache, kernel: Kernel): Promise<BootFiles> {
  const program = await readFile(guestProgram());
  const digest = digestOf(kernel, program);
  const folder = await cache.make(`boot/${digest}`, async (path) => {
    const modules = moduleFiles(kernel, NEEDED_MODULES);
    await mkdir(path, { mode: 0o755 });
    const loaded = await Promise.all(
      modules.map(async (file, index) => ({
        name: `modules/${String(index).padStart(2, "0")}-${basename(file)}`,
        content: await readFile(file),
      })),
    );
    const members = [{ name: "guest", content: program }, { name: "modules" }, ...loaded];
    await writeFile(join(path, "initrd"), packInitrd(members), { mode: 0o644 });
    await writeFile(join(path, "kernel-head"), headOf(await readFile(kernel.image)), { mode: 0o644 });
  });
  return { digest, kernel: kernel.image, initrd: join(folder, "initrd"), kernelHead: join(folder, "kernel-head") };
}

/** Of the boot files that there are, or would be made. */
export async function bootDigest(kernel: Kernel): Promise<string> {
  return digestOf(kernel, await readFile(guestProgram()));
}

const digestOf = ({ version }: Kernel, program: Buffer): string =>
  createHash("sha256").update(version).update("\0").update(program).digest("hex").slice(0, 20);

/** Its boot sector, its setup code and one sector more. */
function headOf(image: Buffer): Buffer {
  const setup = image[SETUP_SECTORS_AT] || 4;
  return image.subarray(0, (setup + 2) * SECTOR);
}
