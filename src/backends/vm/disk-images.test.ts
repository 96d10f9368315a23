import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { copyDisk } from "./disk-images.ts";

it("a copy of a disk that nobody may write is its owner's to write, and nobody else's to read", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cl-di-"));
  try {
    const from = join(folder, "from");
    writeFileSync(from, "x", { mode: 0o444 });
    truncateSync(from, 1024 ** 3);
    await copyDisk(from, join(folder, "to"));
    const { mode, size, blocks } = statSync(join(folder, "to"));
    expect(mode & 0o777).toBe(0o600);
    expect(size).toBe(1024 ** 3);
    expect(blocks).toBeLessThan(1024);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
