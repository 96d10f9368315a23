import { findUser, requireSubordinateIds } from "./subordinate-ids.ts";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const user = { ...userInfo(), username: "ann", uid: 1234 };
let etc: string;
beforeEach(() => (etc = mkdtempSync(join(tmpdir(), "cloche-ids-"))));
afterEach(() => rmSync(etc, { recursive: true }));

describe("findUser()", () => {
  it("knows who runs this", () => expect(findUser().uid).toBe(process.geteuid?.()));

  it("tells a user id without a name that it needs one", () => {
    const nameless = () => {
      throw Object.assign(new Error("uv_os_get_passwd returned ENOENT"), { code: "ERR_SYSTEM_ERROR" });
    };
    expect(() => findUser(nameless)).toThrow(
      expect.objectContaining({
        code: "ENVIRONMENT_BUILD_FAILED",
        message: `Cannot build the environment: user id ${process.geteuid?.() ?? "?"} has no name on this host`,
        hint: expect.stringContaining("useradd") as string,
      }) as Error,
    );
  });
});

describe("requireSubordinateIds()", () => {
  it("is content with a range by name or by id", async () => {
    writeFileSync(join(etc, "subuid"), "bob:100000:65536\nann:165536:65536\n");
    writeFileSync(join(etc, "subgid"), "1234:165536:65536\n");
    await expect(requireSubordinateIds(user, etc, ["/bin/sh"])).resolves.toBeUndefined();
  });

  it("says how to get a range when there is none or it is too small", async () => {
    writeFileSync(join(etc, "subuid"), "ann:165536:65536\n");
    writeFileSync(join(etc, "subgid"), "ann:165536:1000\nbob:100000:65536\n");
    await expect(requireSubordinateIds(user, etc, ["/bin/sh"])).rejects.toMatchObject({
      code: "ENVIRONMENT_BUILD_FAILED",
      message: 'Cannot build the environment: user "ann" has no range in /etc/subgid',
      hint: expect.stringMatching(/usermod --add-subuids .* ann/) as string,
    });
  });

  it("names the packages when the helpers are missing", async () => {
    await expect(requireSubordinateIds(user, etc, [join(etc, "newuidmap")])).rejects.toMatchObject({
      hint: "Install it with `apt-get install uidmap mmdebstrap`",
    });
  });
});
