import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findQemu } from "./qemu.ts";

it("looks past a folder of the PATH that cannot be entered", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cl-qe-"));
  try {
    const program = join(folder, "qemu-system-x86_64");
    writeFileSync(program, "#!/bin/sh\necho QEMU emulator version 9\n");
    chmodSync(program, 0o755);
    symlinkSync("loop", join(folder, "loop"));
    const found = await findQemu(`${join(folder, "loop")}:${folder}`);
    expect(found).toEqual({ program, version: "QEMU emulator version 9" });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it("says on another processor that there are no machines, also where the emulator is there", async () => {
  await expect(findQemu(process.env["PATH"], "arm64")).rejects.toMatchObject({
    code: "BACKEND_UNAVAILABLE",
    message: expect.stringContaining("arm64") as string,
    hint: expect.stringContaining("container") as string,
  });
});
