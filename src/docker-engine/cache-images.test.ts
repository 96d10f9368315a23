import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { CacheImages } from "./cache-images.ts";

/** What it does in an engine is in `test/e2e/prune.test.ts`. */
let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "cl-ci-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const referenceIn = (cache: string): string =>
  new CacheImages({ cachePath: join(folder, cache), kind: "shifted", repository: "cloche/environment" }).reference({
    name: "dockerfile:/a-b",
    digest: "0123456789abcdef",
  });

it("names an image after the cache, by whatever path, also before it is made, and no other", () => {
  mkdirSync(join(folder, "real"));
  symlinkSync("real", join(folder, "link"));
  const before = referenceIn("link/cache");
  mkdirSync(join(folder, "real/cache"));
  expect(before).toMatch(/^cloche\/environment:dockerfile__a_b-0123456789ab-shifted-[0-9a-f]{10}$/);
  expect([referenceIn("real/cache"), referenceIn("link/cache")]).toEqual([before, before]);
  expect(referenceIn("real/other")).not.toBe(before);
});
