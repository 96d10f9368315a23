import { lstatSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileTime } from "./file-time.ts";

describe("fileTime()", () => {
  it.each([0n, 1_000n, 1_700_000_000_123_456_000n, -1_500_000_000n, -2_000_000_000_123_456_000n])(
    "gives a file the time %i",
    (ns) => {
      const folder = mkdtempSync(join(tmpdir(), "cloche-time-"));
      try {
        writeFileSync(join(folder, "f"), "");
        utimesSync(join(folder, "f"), fileTime(ns), fileTime(ns));
        expect(lstatSync(join(folder, "f"), { bigint: true }).mtimeNs).toBe(ns);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );
});
