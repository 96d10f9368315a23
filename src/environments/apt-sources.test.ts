import { findAptSources } from "./apt-sources.ts";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let apt: string;
beforeEach(() => {
  apt = mkdtempSync(join(tmpdir(), "cloche-apt-"));
  mkdirSync(join(apt, "sources.list.d"));
});
afterEach(() => rmSync(apt, { recursive: true }));

describe("findAptSources()", () => {
  it("takes the lines of the suite from sources.list", async () => {
    const line = "deb [arch=amd64 signed-by=/k.gpg] http://mirror.test/debian bookworm main contrib";
    writeFileSync(
      join(apt, "sources.list"),
      `# deb x bookworm main\n${line}\ndeb-src http://m bookworm main\ndeb http://m trixie main\n`,
    );
    expect(await findAptSources("bookworm", apt)).toBe(line);
  });

  it("takes the suites from deb822 files and leaves out what is disabled, other or not a sources file", async () => {
    const text = [
      "Types: deb deb-src\n# a remark\nURIs: http://mirror.test/debian\nSuites: bookworm bookworm-updates bookworm-backports\nComponents: main\n contrib\nSigned-By: /k.gpg\n",
      "Types: deb\nURIs: http://mirror.test/security\nSuites: bookworm-security\nComponents: main\n",
      "Types: deb\nEnabled: no\nURIs: http://off.test\nSuites: bookworm\nComponents: main\n",
      "Types: deb\nURIs: http://other.test\nSuites: nodistro\nComponents: main\n",
    ];
    writeFileSync(join(apt, "sources.list.d/debian.sources"), text.join("\n"));
    writeFileSync(join(apt, "sources.list.d/more.list.disabled"), "deb http://m bookworm main\n");
    expect((await findAptSources("bookworm", apt)).split("\n")).toEqual([
      "deb [signed-by=/k.gpg] http://mirror.test/debian bookworm main contrib",
      "deb [signed-by=/k.gpg] http://mirror.test/debian bookworm-updates main contrib",
      "deb http://mirror.test/security bookworm-security main",
    ]);
  });

  it("is empty on a host without apt", async () => {
    expect(await findAptSources("bookworm", join(apt, "none"))).toBe("");
  });
});
