import { runBuildCommand, WATCHED } from "./build-process.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const env = { PATH: process.env["PATH"] };

describe("runBuildCommand()", () => {
  it("hands descriptors on and tells each line of standard error", async () => {
    const folder = mkdtempSync(join(tmpdir(), "cloche-process-"));
    const [stdin, stdout] = [openSync("/etc/os-release", "r"), openSync(join(folder, "out"), "w")];
    try {
      const lines: string[] = [];
      const argv = ["sh", "-c", "cat; echo one >&2; echo two >&2"] as const;
      await runBuildCommand({ argv, env, stdin, stdout, onLine: (line) => lines.push(line), packages: "none" });
      expect(lines).toEqual(["one", "two"]);
      expect(readFileSync(join(folder, "out"), "utf8")).toBe(readFileSync("/etc/os-release", "utf8"));
    } finally {
      closeSync(stdin);
      closeSync(stdout);
      rmSync(folder, { recursive: true });
    }
  });

  it("shows the last that steps have printed, without colours and passwords, and where more of it is", async () => {
    const script =
      "for i in 1 2 3 4 5; do echo line $i; done; printf '\\033[91mno //me:pw@host/x\\033[0m\\n'; echo broken >&2; exit 3";
    const run = runBuildCommand({
      argv: ["sh", "-c", script],
      env,
      stepOutput: (line, from) => (from === "stdout" ? line : undefined),
      environment: "some:environment",
      packages: "none",
    });
    await expect(run).rejects.toMatchObject({
      code: "ENVIRONMENT_BUILD_FAILED",
      message:
        "Cannot build the environment: sh: broken; its last output:\nline 2\nline 3\nline 4\nline 5\nno //host/x",
      hint: "See more of its output with `cloche env pull some:environment --json`",
      details: { output: expect.arrayContaining(["line 1", "no //host/x", "broken"]) as string[] },
    });
  });

  it("names the package to install when the command is missing", async () => {
    const none = runBuildCommand({ argv: ["no-such-command-here"], env, packages: "some-package" });
    await expect(none).rejects.toMatchObject({
      code: "ENVIRONMENT_BUILD_FAILED",
      message: "Cannot build the environment: no-such-command-here is not installed",
      hint: "Install it with `apt-get install some-package`",
    });
  });

  it("runs nothing when it is cancelled before", async () => {
    const lines: string[] = [];
    const argv = ["sh", "-c", "echo ran >&2"] as const;
    const run = runBuildCommand({
      argv,
      env,
      signal: AbortSignal.abort(),
      onLine: (line) => lines.push(line),
      packages: "none",
    });
    await expect(run).rejects.toThrow();
    expect(lines).toEqual([]);
  });

  it("has its commands end when the process that started them is killed", async () => {
    const program = `
      const { spawn } = require("node:child_process");
      const command = ["sh", "-c", "echo started; sleep 600; sleep 600"];
      spawn("sh", ["-c", process.argv[1], "sh", ...command], { stdio: ["ignore", "inherit", "inherit", "pipe"], detached: true });
    `;
    const builder = spawn(process.execPath, ["-e", program, WATCHED], { stdio: ["ignore", "pipe", "inherit"] });
    await once(builder.stdout, "data");
    builder.kill("SIGKILL");
    // The commands have the other end of this pipe: it closes when the last of them is gone.
    builder.stdout.resume();
    const ended = once(builder, "exit");
    await once(builder.stdout, "close");
    await ended;
    expect(builder.signalCode).toBe("SIGKILL");
  });
});
