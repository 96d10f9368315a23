import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ContainerRecord } from "../../src/backends/container/container-wall.ts";
import { LayeredWalls } from "../guest/layered-walls.ts";

describe("G-04 the process that waits for a sandbox", () => {
  let walls: LayeredWalls;
  beforeAll(() => {
    walls = new LayeredWalls(() => undefined);
  });
  afterAll(() => walls[Symbol.asyncDispose]());

  it("G-04 has no capability, nothing open but the log, and nothing of the daemon's environment", async () => {
    const { directory, wall } = await walls.start([]);
    const at = (name: string) => `/proc/${(wall.record as ContainerRecord).pid}/${name}`;
    const status = readFileSync(at("status"), "utf8");
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapAmb"]) expect(status).toContain(`${set}:\t0000000000000000\n`);
    expect(status).toContain("NoNewPrivs:\t1\n");
    const log = join(directory, "wall.log");
    const open = readdirSync(at("fd")).map((fd) => `${fd} ${readlinkSync(at(`fd/${fd}`))}`);
    expect(open.sort()).toEqual([`0 /dev/null`, `1 ${log}`, `2 ${log}`]);
    expect(readFileSync(at("environ"), "utf8")).toBe("");
    expect(readFileSync(at("cmdline"), "utf8")).toBe("cloche-wall\0wall-watch\0--hostname\0t\0");
  });
});
