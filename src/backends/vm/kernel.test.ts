import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findKernel, moduleFiles } from "./kernel.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-kernel-"));
  for (const path of ["boot", "lib/modules/6.1.0-10/fs", "lib/modules/6.1.0-9"])
    mkdirSync(join(folder, path), { recursive: true });
  for (const version of ["6.1.0-9", "6.1.0-10"]) writeFileSync(join(folder, "boot", `vmlinuz-${version}`), "");
});
afterEach(() => rmSync(folder, { recursive: true }));

const addModule = (name: string, depends: string) =>
  writeFileSync(join(folder, "lib/modules/6.1.0-10/fs", name), `ELF\0license=GPL\0depends=${depends}\0intree=Y\0`);

describe("findKernel()", () => {
  it("takes the newest, by number and not by letter", () => {
    expect(findKernel(folder).version).toBe("6.1.0-10");
  });

  it("says what is missing in a folder without one", () => {
    expect(() => findKernel(join(folder, "lib"))).toThrow(
      expect.objectContaining({
        code: "BACKEND_UNAVAILABLE",
        hint: expect.stringMatching(/CLOCHE_VM_KERNEL.* and then run `cloche daemon stop`$/) as string,
      }),
    );
  });
});

describe("moduleFiles()", () => {
  it("puts what a module needs before it, each once, whatever dash its name has", () => {
    addModule("erofs.ko", "libcrc32c,lz4-base");
    addModule("libcrc32c.ko", "");
    addModule("lz4_base.ko", "libcrc32c");
    expect(moduleFiles(findKernel(folder), ["erofs", "libcrc32c"]).map((file) => basename(file))).toEqual([
      "libcrc32c.ko",
      "lz4_base.ko",
      "erofs.ko",
    ]);
  });

  it("needs no file of what is built in", () => {
    writeFileSync(join(folder, "lib/modules/6.1.0-10/modules.builtin"), "kernel/fs/ext4/ext4.ko\n");
    expect(moduleFiles(findKernel(folder), ["ext4"])).toEqual([]);
  });

  it("names the module that a kernel lacks, and what to do", () => {
    addModule("erofs.ko", "libcrc32c");
    expect(() => moduleFiles(findKernel(folder), ["erofs"])).toThrow(
      expect.objectContaining({
        code: "BACKEND_UNAVAILABLE",
        message: 'The kernel 6.1.0-10 has no module "libcrc32c", which machines need',
      }),
    );
  });
});
