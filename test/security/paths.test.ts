import { existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useSandbox } from "../helpers/sandbox.ts";

const outside = expect.objectContaining({ code: "PATH_OUTSIDE_WORKSPACE" }) as Error;

describe("G-11 paths", () => {
  const box = useSandbox("g11");

  it("G-11 a path that leaves is refused by every verb", async () => {
    const { sdk } = box.at;
    for (const path of ["../x", "/etc/passwd", "a/../../x", "/workspace/../etc/passwd", "/workspacex/y", "/"]) {
      await expect(sdk.readWorkspaceFile(box.id, path)).rejects.toThrow(outside);
      await expect(sdk.writeWorkspaceFile(box.id, path, { text: "x" })).rejects.toThrow(outside);
      await expect(sdk.listWorkspaceFiles(box.id, { path })).rejects.toThrow(outside);
      await expect(sdk.exportWorkspace(box.id, path, { output_path: box.at.path("never") })).rejects.toThrow(outside);
    }
    expect(existsSync(box.at.path("never"))).toBe(false);
  });

  it("G-11 a link that leaves is not followed, wherever it is on the way", async () => {
    const { sdk } = box.at;
    await box.sh(
      "ln -s /etc etc; ln -s / root; ln -s ../tmp up; ln -s loop loop; ln -s /etc/passwd file; ln -s ../../../../etc/hostname deep",
    );
    for (const path of ["etc/passwd", "root/etc/hostname", "file", "deep", "loop", "loop/x"]) {
      await expect(sdk.readWorkspaceFile(box.id, path), path).rejects.toThrow(outside);
    }
    for (const path of ["up/escaped", "etc/escaped", "root/tmp/escaped"]) {
      await expect(sdk.writeWorkspaceFile(box.id, path, { text: "x" }), path).rejects.toThrow(outside);
    }
    await expect(sdk.listWorkspaceFiles(box.id, { path: "etc" })).rejects.toThrow();
    expect((await box.sh("ls /tmp /etc | grep escaped")).stdout).toBe("");
  });

  it("G-11 a link that stays is followed", async () => {
    await box.sh("mkdir -p real; echo inside > real/file; ln -s real alias; ln -s /workspace/real/file absolute");
    expect((await box.at.sdk.readWorkspaceFile(box.id, "alias/file")).content).toBe("inside\n");
    expect((await box.at.sdk.readWorkspaceFile(box.id, "absolute")).content).toBe("inside\n");
  });

  it("G-11 a race between a folder and a link never reads outside", async () => {
    await box.sh(
      "mkdir -p race/d; echo inside > race/d/passwd; (cd race; for i in $(seq 3000); do mv d e; ln -s /etc d; rm d; mv e d; done) > /dev/null 2>&1 &",
    );
    const seen = new Set<string>();
    for (let n = 0; n < 150; n++) {
      try {
        seen.add((await box.at.sdk.readWorkspaceFile(box.id, "race/d/passwd")).content);
      } catch (error) {
        expect(["FILE_NOT_FOUND", "PATH_OUTSIDE_WORKSPACE", "FILE_WRONG_TYPE"]).toContain(
          (error as { code: string }).code,
        );
      }
    }
    expect([...seen].every((content) => content === "inside\n")).toBe(true);
    await box.sh("pkill -f seq; true");
  });

  it("G-12 an export takes links that lead out only when asked to, touches nothing else and overwrites nothing", async () => {
    const { sdk } = box.at;
    const host = box.at.path("host-folder");
    mkdirSync(host);
    writeFileSync(join(host, "precious.txt"), "precious\n");
    await box.sh(
      `mkdir -p trap/sub; ln -s ${host} trap/dir; ln -s ${host}/precious.txt trap/file; ln -s ../../../.. trap/up; echo ok > trap/sub/ok.txt; ln trap/sub/ok.txt trap/hard; chmod 4755 trap/sub/ok.txt`,
    );
    const out = box.at.path("out");
    for (const links of [undefined, "refuse"] as const)
      await expect(sdk.exportWorkspace(box.id, "trap", { output_path: out, links })).rejects.toThrow(outside);
    expect(readdirSync(box.at.root).filter((name) => name.includes("out"))).toEqual([]);
    const bare = box.at.path("bare");
    expect(await sdk.exportWorkspace(box.id, "trap", { output_path: bare, links: "skip" })).toMatchObject({
      skipped_links: 3,
    });
    expect(readdirSync(bare).sort()).toEqual(["hard", "sub"]);
    await sdk.exportWorkspace(box.id, "trap", { output_path: out, links: "keep" });
    for (const name of ["dir", "file", "up"]) expect(lstatSync(join(out, name)).isSymbolicLink(), name).toBe(true);
    expect(readFileSync(join(out, "sub/ok.txt"), "utf8")).toBe("ok\n");
    expect(lstatSync(join(out, "sub/ok.txt")).mode & 0o7000).toBe(0);
    expect(readdirSync(host)).toEqual(["precious.txt"]);
    await expect(sdk.exportWorkspace(box.id, "trap", { output_path: out })).rejects.toThrow(
      expect.objectContaining({ code: "OUTPUT_EXISTS" }) as Error,
    );
    const dangling = box.at.path("dangling");
    symlinkSync(join(host, "made-by-export"), dangling);
    await expect(sdk.exportWorkspace(box.id, "trap/sub/ok.txt", { output_path: dangling })).rejects.toThrow(
      expect.objectContaining({ code: "OUTPUT_EXISTS" }) as Error,
    );
    expect(readdirSync(host)).toEqual(["precious.txt"]);
  });
});
