import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { withInstallation } from "../helpers/installation.ts";

const FOLDERS = 300;
const FILES = 100;

describe("sync push", () => {
  it(`brings in ${FOLDERS} folders with ${FILES} tiny files each`, async () => {
    await withInstallation(async (at) => {
      const source = at.path("packages");
      const digest = createHash("sha256");
      for (let folder = 0; folder < FOLDERS; folder++) {
        mkdirSync(`${source}/p${folder}`, { recursive: true });
        for (let file = 0; file < FILES; file++) {
          const text = `export default ${folder * FILES + file};\n`;
          writeFileSync(`${source}/p${folder}/f${file}.js`, text);
          digest.update(text);
        }
      }
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      const pushed = await at.cli(["workspace", "sync", "push", id, source, "--dest", "packages", "--json"]);
      expect(pushed.stderr).toBe("");
      expect(pushed.json()).toMatchObject({ files: FOLDERS * FILES, dest: "/workspace/packages" });
      const command = `find packages -type f | sort -V | xargs cat | sha256sum; find packages | wc -l`;
      const { stdout } = await at.sdk.execWorkspace(id, { command, timeout_seconds: 60 });
      expect(stdout).toBe(`${digest.digest("hex")}  -\n${FOLDERS * FILES + FOLDERS + 1}\n`);
    });
  }, 120_000);
});
