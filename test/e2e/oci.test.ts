import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Diff, FileContent } from "../../src/model/files.ts";
import type { Health } from "../../src/model/health.ts";
import type { ExecResult } from "../../src/model/exec.ts";
import { type CliResult, type Installation, withInstallation } from "../helpers/installation.ts";

/** What of the answer to a refused call matters. */
function expectRefused({ code, json, stderr }: CliResult, runtime: string, words: string): void {
  expect(json()).toMatchObject({
    error: {
      code: "SANDBOX_START_FAILED",
      message: expect.stringContaining(`"${runtime}"`) as string,
      hint: expect.stringContaining("CLOCHE_OCI_RUNTIME") as string,
    },
  });
  expect((json()["error"] as { message: string }).message).toContain(words);
  expect(stderr).toBe("");
  expect(code).toBe(125);
}

async function expectNothingMade(at: Installation): Promise<void> {
  expect((await at.cli(["workspace", "list", "--json"])).json()).toEqual({ count: 0, workspaces: [] });
}

/** A program that takes the runtime's place. */
function standIn(at: Installation, script: string): string {
  const file = at.path("runtime");
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  chmodSync(at.root, 0o755); // it runs as the root of a sandbox, who is nobody here
  return file;
}

describe("an OCI runtime instead of the launcher's own wall", () => {
  // gVisor's statx of Debian 12 makes `ls -l` fail: cat and echo do.
  it.each(["runc", "runsc"])("%s: create from a project, exec, write, read, diff, list, delete", async (runtime) => {
    await withInstallation(
      async (at) => {
        const project = at.path("project");
        mkdirSync(join(project, "sub"), { recursive: true });
        for (const name of ["keep.txt", "gone.txt", "sub/deep.txt"]) writeFileSync(join(project, name), `${name}\n`);
        const id = (await at.cli(["workspace", "create", "--seed-path", project, "--id-only"])).stdout.trim();
        expect(id).toMatch(/^ws-[0-9a-z]{10}$/);

        const exec = await at.cli([
          "workspace",
          "exec",
          id,
          "--json",
          "--",
          "sh",
          "-c",
          "id -u; cat /proc/1/comm keep.txt sub/deep.txt; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; echo more >> keep.txt; rm gone.txt; exit 5",
        ]);
        expect(exec.json() as unknown as ExecResult).toMatchObject({
          stdout: "1000\ncloche-guest\nkeep.txt\nsub/deep.txt\nlo\n",
          stderr: "",
          exit_code: 5,
        });
        expect(exec.code).toBe(5);
        expect((await at.cli(["workspace", "exec", id, "--", "cat"], { input: "through\n" })).stdout).toBe("through\n");

        expect((await at.cli(["workspace", "file", "write", id, "new/notes.txt", "--text", "hello\n"])).code).toBe(0);
        const read = (
          await at.cli(["workspace", "file", "read", id, "new/notes.txt", "--json"])
        ).json() as unknown as FileContent;
        expect(read).toMatchObject({ content: "hello\n", size_bytes: 6, truncated: false });
        const diff = (await at.cli(["workspace", "diff", id, "--json"])).json() as unknown as Diff;
        const files = diff.entries.filter((entry) => entry.artifact_type === "file");
        expect(files.map(({ path, status }) => [path, status])).toEqual([
          ["/workspace/gone.txt", "deleted"],
          ["/workspace/keep.txt", "modified"],
          ["/workspace/new/notes.txt", "added"],
        ]);
        const slow = await at.cli(["workspace", "exec", id, "--timeout-seconds", "1", "--json", "--", "sleep", "60"]);
        expect(slow.json()).toMatchObject({ timed_out: true });

        const health = (await at.cli(["doctor", "--json"])).json() as unknown as Health;
        expect(health).toMatchObject({
          healthy: true,
          backends: expect.arrayContaining([
            expect.objectContaining({
              name: "container",
              available: true,
              detail: expect.stringContaining(runtime) as string,
            }),
          ]) as unknown,
        });
        expect((await at.cli(["workspace", "delete", id])).code).toBe(0);
        await expectNothingMade(at);
      },
      { CLOCHE_OCI_RUNTIME: runtime },
    );
  });

  it("each workspace keeps its own, and a new daemon takes both up", async () => {
    await withInstallation(async (at) => {
      const plain = (await at.cli(["workspace", "create", "--id-only"])).stdout.trim();
      const runc = (
        await at.cli(["workspace", "create", "--id-only"], { env: { CLOCHE_OCI_RUNTIME: "runc" } })
      ).stdout.trim();
      await at.cli(["daemon", "stop"]);
      for (const id of [plain, runc])
        expect((await at.cli(["workspace", "exec", id, "--", "echo", id])).stdout).toBe(`${id}\n`);
    });
  });

  it("crun works here, or is refused with its own words", async () => {
    await withInstallation(
      async (at) => {
        const answer = await at.cli(["run", "--json", "--", "echo", "hi"]);
        if (answer.code === 0) expect(answer.json()).toMatchObject({ stdout: "hi\n" });
        else expectRefused(answer, "crun", "cgroup");
        await expectNothingMade(at);
      },
      { CLOCHE_OCI_RUNTIME: "crun" },
    );
  });

  it("one that is missing is named, by doctor too", async () => {
    await withInstallation(
      async (at) => {
        for (const args of [
          ["run", "--json", "--", "true"],
          ["workspace", "create", "--json"],
        ]) {
          expectRefused(await at.cli(args), "no-such-runtime", "there is no OCI runtime");
        }
        const doctor = await at.cli(["doctor", "--json"]);
        expect(doctor.code).toBe(1);
        expect(doctor.json() as unknown as Health).toMatchObject({
          healthy: false,
          backends: expect.arrayContaining([
            expect.objectContaining({
              name: "container",
              available: false,
              detail: expect.stringContaining("no-such-runtime") as string,
              hint: expect.stringContaining("CLOCHE_OCI_RUNTIME") as string,
            }),
          ]) as unknown,
        });
        expect((await at.cli(["doctor"])).stdout).toMatch(/✗ container.*no-such-runtime/);
        await expectNothingMade(at);
      },
      { CLOCHE_OCI_RUNTIME: "no-such-runtime" },
    );
  });

  it.each([
    ["fails with a word", 'echo "out of order" >&2; exit 3', "out of order"],
    ["fails without a word", "exit 3", "without a word"],
    ["ends well without having started anything", "exit 0", "without a word"],
    ["kills itself", "kill -9 $$", "without a word"],
  ])("one that %s is refused and leaves nothing", async (_what, script, words) => {
    await withInstallation(async (at) => {
      const runtime = standIn(at, script);
      expectRefused(
        await at.cli(["workspace", "create", "--json"], { env: { CLOCHE_OCI_RUNTIME: runtime } }),
        runtime,
        words,
      );
      await expectNothingMade(at);
      expect((await at.cli(["run", "--", "echo", "without it"])).stdout).toBe("without it\n");
    });
  });
});
