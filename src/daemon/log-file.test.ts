import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openLogFile } from "./log-file.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-log-"));
  file = join(folder, "daemon.log");
});
afterEach(() => rmSync(folder, { recursive: true }));

it("writes a JSON line each, from its level on, for the user alone", () => {
  const log = openLogFile(file, "warn");
  log.info("not this");
  log.warn("this", { pid: 1 });
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ level: "warn", message: "this", pid: 1 });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it("takes the ordinary level for one that does not exist", () => {
  const log = openLogFile(file, "loud");
  log.debug("not this");
  log.info("this");
  expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(1);
});

it("sets a large log aside, and one old one is kept; who had it open writes on into the new", () => {
  writeFileSync(file, "old\n".repeat(3_000_000));
  writeFileSync(`${file}.old`, "older");
  const stderr = openSync(file, "a");
  openLogFile(file, undefined).info("new");
  writeSync(stderr, "stderr\n");
  closeSync(stderr);
  expect(statSync(`${file}.old`).size).toBe(12_000_000);
  expect(readFileSync(file, "utf8")).toMatch(/^\{.*"new"\}\nstderr\n$/);
});
