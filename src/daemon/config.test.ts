import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { configReader } from "./config.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-config-"));
  file = join(folder, "config.yaml");
});
afterEach(() => rmSync(folder, { recursive: true }));

const invalid = (message: unknown): Error => expect.objectContaining({ code: "CONFIG_INVALID", message }) as Error;

it("is empty where there is no file, and where the file is empty", () => {
  const config = configReader(file);
  expect(config()).toEqual({});
  writeFileSync(file, "# nothing yet\n");
  expect(config()).toEqual({});
});

it("is read again when the file changes, and goes when the file goes", () => {
  const config = configReader(file);
  writeFileSync(file, "backend: container\nlimits:\n  mem_mib: 512\n");
  expect(config()).toEqual({ backend: "container", limits: { mem_mib: 512 } });
  writeFileSync(file, "ttl_seconds: 60\n");
  expect(config()).toEqual({ ttl_seconds: 60 });
  rmSync(file);
  expect(config()).toEqual({});
});

it("names an unknown key and the allowed ones", () => {
  writeFileSync(file, "backnd: container\n");
  const allowed =
    'unknown key "backnd"; allowed are backend, environment, ttl_seconds, grace_seconds, limits, on_proposal, egress, mcp';
  expect(configReader(file)).toThrow(invalid(`Cannot use "${file}": ${allowed}`));
  writeFileSync(file, "limits: {memory: 1}\n");
  expect(configReader(file)).toThrow(
    invalid(expect.stringContaining('unknown key "memory" in "limits"; allowed are vcpu')),
  );
});

it("tells the line of what is no YAML", () => {
  writeFileSync(file, "backend: container\nlimits: {a: 1\nx: [\n");
  expect(configReader(file)).toThrow(invalid(expect.stringMatching(/^Cannot read ".*", line \d+: /)));
  writeFileSync(file, "backend: a\nbackend: b\n");
  expect(configReader(file)).toThrow(invalid(expect.stringContaining("line 2: map keys must be unique")));
  writeFileSync(file, "ttl_seconds: 60\nbackend: *x\n");
  expect(configReader(file)).toThrow(invalid(expect.stringContaining("line 2: a word that begins with a star")));
});

it("tells a value of the wrong kind, and a file that cannot be read", () => {
  writeFileSync(file, "ttl_seconds: soon\n");
  expect(configReader(file)).toThrow(invalid(expect.stringContaining('"ttl_seconds" must be a number')));
  writeFileSync(file, "- a\n");
  expect(configReader(file)).toThrow(invalid(expect.stringContaining("the input must be an object")));
  expect(configReader(folder)).toThrow(invalid(expect.stringContaining("it is a folder")));
});
