import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openGateLog } from "./gate-log.ts";

it("G-54 goes on without a log when the disk is full", () => {
  const fd = openSync("/dev/full", "w");
  try {
    const log = openGateLog(fd);
    expect(() => log.warn("nobody reads this")).not.toThrow();
  } finally {
    closeSync(fd);
  }
});

it("G-28 keeps the last of what was logged, and no more than a MiB, however much that is", () => {
  const folder = mkdtempSync(join(tmpdir(), "cloche-gate-log-"));
  const file = join(folder, "gate.log");
  const fd = openSync(file, "a", 0o600);
  try {
    const log = openGateLog(fd);
    for (let line = 0; line < 3000; line++) log.warn(`line ${line}`, { reason: "x".repeat(1000) });
    expect(statSync(file).size).toBeLessThan(1024 * 1024 + 2000);
    expect(readFileSync(file, "utf8")).toContain('"line 2999"');
  } finally {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  }
});
