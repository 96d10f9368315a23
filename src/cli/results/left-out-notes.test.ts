import { expect, it } from "vitest";
import type { LeftOut } from "../../model/seed-content.ts";
import { noteLeftOut } from "./left-out-notes.ts";

function notesOn(...paths: string[]): string[] {
  const counted = { files: 1, size_bytes: 4, is_complete: true };
  const largest = paths.map((path) => ({ path, ...counted }));
  const left: LeftOut = { entries: paths.length, ...counted, largest, secrets: [], secret_count: 0 };
  const notes: string[] = [];
  noteLeftOut({ json: false, note: (text) => notes.push(text) }, left);
  return notes;
}

it.each([
  [[".env", "build.log", "node_modules/"], "note: --include node_modules brings a part of it, "],
  [[".env", "key.pem"], "note: --include GLOB brings a part of it, "],
  [[".aws/", "config/.ssh/"], "note: --include GLOB brings a part of it, "],
])("names what stayed at home, and never one with secrets to bring: %j", (paths, told) => {
  const [what, how] = notesOn(...paths);
  for (const path of paths) expect(what).toContain(path);
  expect(how?.startsWith(told), how).toBe(true);
});
