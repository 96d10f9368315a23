import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toWorkspaceAbsolute, toWorkspaceRelative } from "./workspace-path.ts";

describe("toWorkspaceRelative()", () => {
  it.each([
    ["a.txt", "a.txt"],
    ["/workspace/a/b", "a/b"],
    [".", ""],
    ["/workspace", ""],
    ["/workspace/", ""],
    ["a/../b", "b"],
    ["sub//x", "sub/x"],
  ])("takes %j as %j", (given, relative) => {
    expect(toWorkspaceRelative(given)).toBe(relative);
  });

  it.each(["../escape", "/etc/passwd", "sub/../../escape", "/workspace/../etc/passwd", "/workspacex/a", "/", "a\0b"])(
    "refuses %j",
    (given) => {
      expect(() => toWorkspaceRelative(given)).toThrow(expect.objectContaining({ code: "PATH_OUTSIDE_WORKSPACE" }));
    },
  );

  it("never gives a path that climbs, whatever it is given", () => {
    const part = fc.constantFrom("..", ".", "", "a", "workspace", "/", "..a", "\n");
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), fc.boolean(), (parts, absolute) => {
        const given = (absolute ? "/" : "") + parts.join("/");
        let relative: string;
        try {
          relative = toWorkspaceRelative(given);
        } catch {
          return;
        }
        expect(relative.split("/")).not.toContain("..");
        expect(relative.startsWith("/")).toBe(false);
        expect(toWorkspaceRelative(toWorkspaceAbsolute(relative))).toBe(relative);
      }),
    );
  });
});
