import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hostPlace, parseCopyEnd, planCopy } from "./copy-ends.ts";

describe("the ends of a copy", () => {
  it.each([
    ["ws-4:a/b", { kind: "workspace", id: "ws-4", path: "a/b" }],
    ["my.name:/workspace", { kind: "workspace", id: "my.name", path: "/workspace" }],
    ["ws-4:", { kind: "workspace", id: "ws-4", path: "/workspace" }],
    ["ws-4:a:b", { kind: "workspace", id: "ws-4", path: "a:b" }],
    ["./a:b", { kind: "host", path: "./a:b" }],
    ["/a:b", { kind: "host", path: "/a:b" }],
    ["dir/a:b", { kind: "host", path: "dir/a:b" }],
    ["plain", { kind: "host", path: "plain" }],
  ])("%s", (text, end) => {
    expect(parseCopyEnd(text)).toEqual(end);
  });

  it("are one of each kind", () => {
    expect(planCopy("a/.", "ws-4:b", [])).toEqual({ way: "in", id: "ws-4", source: "a/.", dest: "b", contents: true });
    expect(planCopy("ws-4:a", "b/", [])).toEqual({ way: "out", id: "ws-4", path: "a", dest: "b/" });
    for (const [from, to] of [
      ["a", "b"],
      ["ws-1:a", "ws-2:b"],
      ["-", "ws-1:a"],
      ["ws-1:a", "-"],
      ["", "ws-1:a"],
    ] as const)
      expect(() => planCopy(from, to, []), `${from} ${to}`).toThrow(
        expect.objectContaining({ code: "USAGE" }) as Error,
      );
  });
});

describe("the place of a copy on the host", () => {
  let cwd: string;
  beforeAll(() => {
    cwd = mkdtempSync(join(tmpdir(), "cloche-cp-"));
  });
  afterAll(() => rmSync(cwd, { recursive: true }));

  it("is in a folder that is there, else what was named", async () => {
    const place = async (path: string, dest: string) => await hostPlace(cwd, path, dest);
    expect(await place("a/b.txt", ".")).toEqual({ path: join(cwd, "b.txt"), isFilled: false });
    expect(await place("/workspace", ".")).toEqual({ path: join(cwd, "workspace"), isFilled: false });
    expect(await place("a/..", ".")).toEqual({ path: join(cwd, "workspace"), isFilled: false });
    expect(await place("a/.", ".")).toEqual({ path: cwd, isFilled: true });
    expect(await place("a", "new")).toEqual({ path: join(cwd, "new"), isFilled: false });
    await expect(place("a", "new/")).rejects.toMatchObject({ code: "OUTPUT_INVALID" });
  });
});
