import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openGateLog } from "./gate-log.ts";

const MIB = 1024 * 1024;

let folder: string;
let opened: number[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-gate-log-"));
  opened = [];
});

afterEach(() => {
  for (const fd of opened) closeSync(fd);
  rmSync(folder, { recursive: true });
});

/** As the daemon opens the one and the keeper the other. */
function open(path: string, flags = "a+"): number {
  const fd = openSync(path, flags, 0o600);
  opened.push(fd);
  return fd;
}

const names = () => ({ current: join(folder, "gate.log"), older: join(folder, "gate.log.1") });

function openBoth() {
  const { current, older } = names();
  return openGateLog({ current: open(current), older: open(older) });
}

const read = (file: string): { message: string }[] =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { message: string });

it("G-54 goes on without a log when the disk is full", () => {
  const log = openGateLog({ current: open("/dev/full", "w"), older: open("/dev/full", "w") });
  expect(() => log.warn("nobody reads this")).not.toThrow();
});

it("G-54 begins anew when there is no room for the older log", () => {
  const { current } = names();
  const log = openGateLog({ current: open(current), older: open("/dev/full", "r+") });
  for (let line = 0; line < 2500; line++) log.warn(`line ${line}`, { reason: "x".repeat(1000) });
  expect(statSync(current).size).toBeLessThan(MIB + 2000);
  expect(read(current).at(-1)?.message).toBe("line 2499");
});

it("begins anew, and leaves the older log alone, where the file cannot be read", () => {
  const { current, older } = names();
  writeFileSync(older, "of before\n");
  const log = openGateLog({ current: open(current, "a"), older: open(older) });
  for (let line = 0; line < 1500; line++) log.warn(`line ${line}`, { reason: "x".repeat(1000) });
  expect(statSync(current).size).toBeLessThan(MIB);
  expect(readFileSync(older, "utf8")).toBe("of before\n");
});

it("G-28 keeps the last of what was logged in two files, and no more than two MiB, however much that is", () => {
  const { current, older } = names();
  const log = openBoth();
  for (let line = 0; line < 5000; line++) log.warn(`line ${line}`, { reason: "x".repeat(1000) });
  for (const file of [current, older]) expect(statSync(file).size).toBeLessThan(MIB + 2000);
  const kept = [...read(older), ...read(current)].map(({ message }) => message);
  // Nothing is missing between the two, and no line is cut.
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, at) => `line ${5000 - kept.length + at}`));
  expect(kept.length).toBeGreaterThan(900);
});

it("keeps what somebody else has written into the file", () => {
  const { current, older } = names();
  const log = openBoth();
  writeFileSync(current, "of the keeper\n".repeat(75_500), { flag: "a" });
  log.warn("the first line after it");
  expect(readFileSync(older, "utf8")).toBe("of the keeper\n".repeat(75_500));
  expect(read(current).map(({ message }) => message)).toEqual(["the first line after it"]);
});
