import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RememberedIncludes } from "./remembered-includes.ts";
import { chooseRules } from "./seed-rules.ts";

let home: string;
let project: string;
beforeEach(() => {
  home = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "cloche-includes-")));
  project = join(home, "project");
  fs.mkdirSync(project);
  fs.symlinkSync("project", join(home, "link"));
});
afterEach(() => fs.rmSync(home, { recursive: true, force: true }));

const RULES = { ignored: false, globs: ["node_modules"] };

describe("what is remembered of a project", () => {
  it("is found by whoever comes later, by any name of the project, and is forgotten again", async () => {
    const first = new RememberedIncludes(home);
    await Promise.all([first.remember("/other", { ignored: true, globs: [] }), first.remember(project, RULES)]);
    const later = new RememberedIncludes(home);
    expect(await later.find(join(home, "link"))).toEqual(RULES);
    expect(fs.statSync(join(home, "seed-includes.json")).mode & 0o777).toBe(0o600);
    await later.remember(join(home, "link"), { ignored: false, globs: [] });
    expect(await later.find(project)).toBeUndefined();
  });

  it("is an error when it cannot be read, and not nothing", async () => {
    fs.writeFileSync(join(home, "seed-includes.json"), '{"/x": {"include": ["../y"]}}');
    await expect(new RememberedIncludes(home).find(project)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  it("counts where a call says nothing, and is kept once the call asks for it", async () => {
    const remembered = new RememberedIncludes(home);
    const asked = { seed_path: project, include: ["dist"], remember_include: true };
    const chosen = await chooseRules(asked, remembered);
    expect(await remembered.find(project)).toBeUndefined();
    await chosen.keep?.();
    const kept = { ignored: false, globs: ["dist"] };
    expect(await chooseRules({ seed_path: project }, remembered)).toEqual({ include: kept, isRemembered: true });
    expect(await chooseRules({ seed_path: project, include: [] }, remembered)).toEqual({
      include: { ignored: false, globs: [] },
      isRemembered: false,
    });
    await expect(chooseRules({ include: ["dist"] }, remembered)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("G-32: is not for a caller that may read a part of the host, and never comes from the project", async () => {
    const remembered = new RememberedIncludes(home);
    await remembered.remember(project, { ignored: true, globs: [".env"] });
    const read_scope = { root: project, kind: "project" } as const;
    expect((await chooseRules({ seed_path: project, read_scope }, remembered)).include).toBeUndefined();
    const asked = { seed_path: project, read_scope, include: ["x"], remember_include: true };
    expect((await chooseRules(asked, remembered)).keep).toBeUndefined();

    const own = join(project, "own");
    fs.mkdirSync(own);
    fs.writeFileSync(
      join(own, "seed-includes.json"),
      JSON.stringify({ [own]: { include_ignored: true, include: [] } }),
    );
    expect((await chooseRules({ seed_path: own }, remembered)).include).toBeUndefined();
  });
});
