import { describe, expect, it } from "vitest";
import { overlayOptions } from "./overlay-options.ts";

describe("overlayOptions()", () => {
  it("has the last layer on top, the baseline below all, and the marks of a user namespace", () => {
    expect(overlayOptions("/run/c/ws", 2)).toBe(
      "lowerdir=/run/c/ws/2:/run/c/ws/1:/run/c/ws/0,upperdir=/run/c/ws/u,workdir=/run/c/ws/w,userxattr,nosuid,nodev",
    );
  });

  it.each(["/a:b", "/a,b", "/a\\b", '/a"b', "/a\nb"])("refuses %j, which would be read as something else", (links) => {
    expect(() => overlayOptions(links, 0)).toThrow(expect.objectContaining({ code: "NOT_SUPPORTED" }));
  });

  it("takes as many layers as a workspace may have, and refuses what the kernel would, before anything is made", () => {
    expect(overlayOptions("/run/user/1000/cloche/cloche-0123456789-ws-0123456789-g100", 60).length).toBeLessThan(4096);
    expect(() => overlayOptions(`/${"long".repeat(20)}`, 60)).toThrow(/60 snapshots/);
  });
});
