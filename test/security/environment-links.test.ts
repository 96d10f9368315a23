import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LayeredWalls } from "../guest/layered-walls.ts";

/** Where the launcher mounts something. */
const PLACES = ["proc", "dev", "tmp", "run", "workspace", "usr", ".cloche"];

describe("G-177 an environment that has a link where a mount belongs", () => {
  let walls: LayeredWalls;
  beforeAll(() => {
    walls = new LayeredWalls(() => undefined);
  });
  afterAll(() => walls[Symbol.asyncDispose]());

  it.each(PLACES)("G-177 /%s: it does not start, and the mount is nowhere else", async (place) => {
    const path = join(walls.root, place);
    rmSync(path, { recursive: true, force: true });
    symlinkSync("etc", path);
    try {
      await expect(walls.start([])).rejects.toMatchObject({
        code: "SANDBOX_START_FAILED",
        message: expect.stringContaining(`/${place} of the environment`) as string,
      });
    } finally {
      rmSync(path);
      walls.makeFolder(place);
    }
  });

  it("starts when they are folders", async () => {
    expect(await (await walls.start([])).sh("pwd")).toBe("/workspace\n");
  });
});
