import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { removeTree } from "../../base/remove-tree.ts";
import type { HomeState } from "../../policy/way-home/bring-home.ts";
import { inHiddenRepositories } from "./planted-repositories.ts";

let top: string;
beforeEach(() => (top = mkdtempSync(join(tmpdir(), "cl-pr-"))));
afterEach(() => removeTree(top));

const file: HomeState = { type: "file", isExecutable: false, content: Buffer.from("x") };
const change = (path: string, after: HomeState) => ({ path, before: undefined, after });

describe("inHiddenRepositories()", () => {
  const hidden = (files: string[], ...paths: string[]) =>
    [
      ...inHiddenRepositories(
        paths.map((path) => change(path, file)),
        { path: top, files },
      ),
    ].map(({ path }) => path);

  it("G-141 knows a repository by its parts, whoever brings them", () => {
    const planted = ["docs/HEAD", "docs/config", "docs/objects/k", "docs/refs/k", "docs/deep/er"];
    expect(hidden([], ...planted, "other")).toEqual(planted);
    expect(hidden([], "docs/head", "docs/COMMONDIR", "x/HEAD")).toEqual(["docs/head", "docs/COMMONDIR"]);
    expect(hidden(["docs/HEAD"], "docs/objects/k")).toEqual(["docs/objects/k"]);
    expect(hidden(["docs/HEAD", "docs/objects/k"], "docs/config", "config")).toEqual(["docs/config"]);
    mkdirSync(join(top, "docs/objects"), { recursive: true });
    expect(hidden([], "docs/HEAD")).toEqual(["docs/HEAD"]);
  });

  it("takes no folder for a HEAD, and leaves the top to its own `.git`", () => {
    expect(hidden([], "models/head/x", "models/objects/x", "HEAD", "objects/k")).toEqual([]);
  });
});
