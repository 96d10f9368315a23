import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
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
  }, 300_000);

  it("and cp copy single files and folders as docker does, both ways and byte for byte", async () => {
    await withInstallation(async (at) => {
      const bytes = Buffer.from(Array.from({ length: 5_000_000 }, (_, index) => (index * 31) % 256));
      mkdirSync(at.path("folder/sub"), { recursive: true });
      writeFileSync(at.path("tool"), bytes, { mode: 0o755 });
      writeFileSync(at.path("folder/sub/x"), "x\n");
      symlinkSync("sub/x", at.path("folder/link"));
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      const cp = async (...words: string[]) => {
        const { code, stdout, stderr } = await at.cli(["workspace", "cp", ...words]);
        return code === 0 ? stdout : stderr;
      };
      expect(await cp(at.path("tool"), `${id}:`)).toBe("Wrote 1 file to /workspace/tool\n");
      expect(await cp(at.path("folder"), `${id}:`)).toBe("Wrote 2 files to /workspace/folder\n");
      expect(await cp(`${at.path("folder")}/.`, `${id}:contents`)).toBe("Wrote 2 files to /workspace/contents\n");
      expect(await cp(at.path("folder"), `${id}:tool`)).toContain("it is a file");
      expect(await cp(at.path("tool"), `${id}:/etc/tool`)).toContain("outside /workspace");
      const pushed = await at.cli(["workspace", "sync", "push", id, at.path("tool"), "--dest", "bin", "--json"]);
      expect(pushed.json()).toMatchObject({ dest: "/workspace/bin/tool", files: 1 });
      const { stdout } = await at.sdk.execWorkspace(id, {
        command: "stat -c %a tool bin/tool; readlink folder/link contents/link; cmp tool bin/tool",
      });
      expect(stdout).toBe("755\n755\nsub/x\nsub/x\n");

      const out = at.path("out");
      mkdirSync(out);
      await cp(`${id}:tool`, out);
      expect(readFileSync(`${out}/tool`).equals(bytes)).toBe(true);
      writeFileSync(`${out}/tool`, "mine");
      expect(await cp(`${id}:tool`, out)).toContain("it exists");
      expect(readFileSync(`${out}/tool`, "utf8")).toBe("mine");
      await cp("--overwrite", `${id}:tool`, out);
      expect(readFileSync(`${out}/tool`).equals(bytes)).toBe(true);
      await cp(`${id}:folder`, `${out}/renamed`);
      expect([readFileSync(`${out}/renamed/sub/x`, "utf8"), readlinkSync(`${out}/renamed/link`)]).toEqual([
        "x\n",
        "sub/x",
      ]);
      expect(await cp(`${id}:folder/.`, out)).toContain("it exists");
      expect(await cp(`${id}:tool`, `${out}/missing/`)).toContain("there is no such folder");

      const { bytes: read } = await at.cli(["workspace", "file", "read", id, "tool"]);
      expect(read.equals(bytes)).toBe(true);
      await at.cli(["workspace", "file", "write", id, "again", "--text-file", at.path("tool")]);
      const ws = await at.sdk.open(id);
      expect(Buffer.from(await ws.files.readBytes("again")).equals(bytes)).toBe(true);
    });
  }, 60_000);
});
