import { mkdirSync, mkdtempSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { removeTree } from "./remove-tree.ts";
import { makeWorkFolder, removeAbandonedWork } from "./work-folder.ts";

let home: string;
beforeEach(() => (home = mkdtempSync(join(tmpdir(), "cl-wf-"))));
afterEach(() => removeTree(home));

it("is new, the user's alone, and stays as long as its process runs", async () => {
  const [one, two] = [await makeWorkFolder(home, "clone"), await makeWorkFolder(home, "clone")];
  expect([dirname(one), dirname(two)]).toEqual([join(home, "tmp"), join(home, "tmp")]);
  expect(one).not.toBe(two);
  for (const path of [one, join(home, "tmp")]) expect(statSync(path).mode & 0o777).toBe(0o700);
  await removeAbandonedWork(home);
  expect(readdirSync(join(home, "tmp"))).toHaveLength(2);
});

it("that a dead process left goes with the next; what has another name stays", async () => {
  // A process that started later has that id: this very one.
  const left = join(home, "tmp", `clone-${process.pid}-1-abcdef`);
  mkdirSync(left, { recursive: true });
  writeFileSync(join(left, "file"), "");
  writeFileSync(join(home, "tmp/notes"), "");
  await makeWorkFolder(home, "probe");
  expect(readdirSync(join(home, "tmp")).map((name) => name.split("-")[0])).toEqual(["notes", "probe"]);
});

it("is not made where nothing is left to remove, and that is fine", async () => {
  await removeAbandonedWork(home);
  expect(readdirSync(home)).toEqual([]);
});
