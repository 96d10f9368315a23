import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createMemoryIo } from "../../../test/helpers/memory-io.ts";
import { runCli } from "../run-cli.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "cloche-scan-"))));
afterEach(() => rmSync(folder, { recursive: true }));

it("tells the fingerprint of a finding whole, as a bottle's `allow_findings` takes it", async () => {
  const value = ["AKIA", "IOSFODNN7EXAMPLQ"].join("");
  writeFileSync(join(folder, "key.txt"), value);
  const io = createMemoryIo();
  expect(await runCli(["scan", folder], io)).toBe(1);
  expect(io.stdout.text).toMatch(/^aws-access-key-id {2}[0-9a-f]{32} {2}.*key\.txt:1:1$/m);
  expect(io.stdout.text).not.toContain(value);
});
