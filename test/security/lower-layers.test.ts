import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useSandbox } from "../helpers/sandbox.ts";

describe("G-05 layers below", () => {
  const box = useSandbox("g05");

  it("G-05 the host's system folders cannot be written, by any way in", async () => {
    const attempts = [
      "touch /usr/bin/cloche-evil",
      "echo x >> /usr/bin/env",
      "rm -f /usr/bin/env",
      "mv /usr/bin/env /usr/bin/env2",
      "chmod 777 /usr/bin/env",
      "ln -s x /usr/evil",
    ];
    const before = statSync("/usr/bin/env");
    for (const attempt of attempts) expect((await box.sh(attempt)).exit_code, attempt).not.toBe(0);
    const after = statSync("/usr/bin/env");
    expect([after.mtimeMs, after.size, after.mode, after.ino]).toEqual([
      before.mtimeMs,
      before.size,
      before.mode,
      before.ino,
    ]);
  });

  it("G-05 the host's system folders are read-only whatever their modes say", async () => {
    const mounted = (await box.sh("cut -d' ' -f5,6 /proc/self/mountinfo")).stdout.split("\n");
    const shared = ["/usr", "/opt"].filter((path) => mounted.some((line) => line.startsWith(`${path} `)));
    expect(shared).toContain("/usr");
    // The kernel asks whether the mount can be written to before it asks whose folder it is.
    for (const path of shared)
      expect((await box.sh(`mkdir ${path}/cloche-evil`)).stderr, path).toContain("Read-only file system");
  });

  it("G-05 what is changed in a workspace stays in it: project, seed cache and later workspaces are as before", async () => {
    const project = box.at.path("project");
    mkdirSync(join(project, "sub"), { recursive: true });
    for (const name of ["keep.txt", "gone.txt", "sub/deep.txt"]) writeFileSync(join(project, name), `${name}\n`);
    const first = await box.at.sdk.createWorkspace({ environment: "host", seed_path: project });
    const spoiled = await box.at.sdk.execWorkspace(first.workspace_id, {
      command:
        "echo spoiled > keep.txt; rm -r gone.txt sub; mkdir sub; echo new > sub/new.txt; chmod 777 .; touch -d 2001-01-01 keep.txt",
    });
    expect(spoiled.exit_code).toBe(0);
    expect(readdirSync(project).sort()).toEqual(["gone.txt", "keep.txt", "sub"]);
    expect(readFileSync(join(project, "keep.txt"), "utf8")).toBe("keep.txt\n");
    const second = await box.at.sdk.createWorkspace({ environment: "host", seed_path: project });
    const seen = await box.at.sdk.execWorkspace(second.workspace_id, {
      command: "cat keep.txt gone.txt sub/deep.txt; ls -A sub; stat -c %a .",
    });
    expect(seen.stdout).toBe("keep.txt\ngone.txt\nsub/deep.txt\ndeep.txt\n755\n");
    for (const { workspace_id: id } of [first, second]) await box.at.sdk.deleteWorkspace(id);
  });

  it("G-05 the layers themselves are nowhere in the sandbox", async () => {
    expect(
      (await box.sh("ls -A /.cloche/upper /.cloche/baseline")).stdout.replace(/\/\.cloche\/\w+:\n?/g, "").trim(),
    ).toBe("");
    expect((await box.sh("touch /.cloche/guest; echo x > /.cloche/guest")).exit_code).not.toBe(0);
  });
});
