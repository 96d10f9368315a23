import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readSecrets } from "./secrets.ts";

let base: string;
beforeEach(() => (base = mkdtempSync(join(tmpdir(), "cloche-secrets-"))));
afterEach(() => rmSync(base, { recursive: true }));

it("G-10 a secret's file is an ordinary one: the daemon waits for no pipe, and reads no device without end", async () => {
  const read = (path: string) => readSecrets([{ name: "TOKEN", file_path: path }]);
  execFileSync("mkfifo", [join(base, "pipe")]);
  writeFileSync(join(base, "file"), `${"x".repeat(65_536)}\r\n`);
  writeFileSync(join(base, "large"), "x".repeat(65_540));
  expect((await read(join(base, "file"))).records).toMatchObject([{ name: "TOKEN", source_kind: "file" }]);
  for (const path of [join(base, "pipe"), "/dev/zero", join(base, "large"), base])
    await expect(read(path), path).rejects.toMatchObject({ code: "SECRET_INVALID" });
});
