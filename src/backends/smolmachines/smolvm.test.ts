import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Smolvm, cannotRun, isOlder } from "./smolvm.ts";

/** For what ends by itself: against hanging. */
const DEADLINES = { quickMs: 30_000, bootMs: 30_000, copyMs: 30_000 };

let folder: string;
let path: string | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cl-smolvm-"));
  path = process.env["PATH"];
});
afterEach(() => {
  process.env["PATH"] = path;
  rmSync(folder, { recursive: true, force: true });
});

/** A program of that name that is the first in the PATH. */
function install(script: string, deadlines = DEADLINES): Smolvm {
  mkdirSync(join(folder, "bin"), { recursive: true });
  writeFileSync(join(folder, "bin/smolvm"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, "bin/smolvm"), 0o755);
  process.env["PATH"] = `${join(folder, "bin")}:${path ?? ""}`;
  return new Smolvm(deadlines);
}

const failing = (code: string, words: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(words) as string }) as Error;

describe("a smolvm that cannot be used", () => {
  it("because it is not installed says what to install", async () => {
    process.env["PATH"] = folder;
    await expect(new Smolvm(DEADLINES).checkVersion()).rejects.toMatchObject({
      code: "BACKEND_UNAVAILABLE",
      message: "smolvm is not installed",
      hint: expect.stringContaining("1.8.0") as string,
    });
  });

  it("because it may not be run says so", async () => {
    install("true");
    chmodSync(join(folder, "bin/smolvm"), 0o644);
    process.env["PATH"] = join(folder, "bin");
    await expect(new Smolvm(DEADLINES).checkVersion()).rejects.toThrow(
      failing("BACKEND_UNAVAILABLE", /^This user may not run .*bin\/smolvm$/),
    );
  });

  it("because a folder of the PATH is closed is told as not installed", () => {
    // Root is denied nothing, so the kernel's answer is made up.
    const closed = join(folder, "closed");
    mkdirSync(closed, { mode: 0o000 });
    const denied = Object.assign(new Error("spawn smolvm EACCES"), { code: "EACCES" });
    expect(cannotRun(denied, closed)).toMatchObject({ message: "smolvm is not installed" });
  });

  it.each(["0.8.0", "1.7.9"])("because it is too old (%s) says which is wanted", async (version) => {
    await expect(install(`echo smolvm ${version}`).checkVersion()).rejects.toMatchObject({
      code: "BACKEND_UNAVAILABLE",
      message: `smolvm ${version} is too old`,
      hint: "Install smolvm 1.8.0 or newer",
    });
  });

  it.each([
    ["garbage", "printf '\\000\\033[31m<html>'"],
    ["nothing", "exit 0"],
    ["an error", "echo boom >&2; exit 1"],
    ["another program's version", "echo node v20.1.0"],
  ])("because it prints %s is told with what it printed", async (_what, script) => {
    const error: unknown = await install(script)
      .checkVersion()
      .catch((one: unknown) => one);
    expect(error).toMatchObject({ code: "BACKEND_UNAVAILABLE" });
    expect(String(error)).not.toContain("\u001b");
  });

  it("because it hangs is ended, and told", async () => {
    const smolvm = install("sleep 100 & sleep 100", { ...DEADLINES, quickMs: 1500 });
    await expect(smolvm.checkVersion()).rejects.toThrow(
      failing("BACKEND_UNAVAILABLE", /"smolvm --version" did not end within 1.5 seconds/),
    );
  });
});

describe("a call", () => {
  it("that fails is told with smolvm's own last line", async () => {
    const smolvm = install("echo progress >&2; echo 'Error: no hypervisor' >&2; exit 1");
    await expect(smolvm.run(["machine", "start", "-n", "x"])).rejects.toThrow(
      failing("SANDBOX_START_FAILED", /"smolvm machine start" failed: Error: no hypervisor/),
    );
  });

  it("that finds the disk full says that", async () => {
    const smolvm = install("echo 'Error: write: No space left on device' >&2; exit 1");
    await expect(smolvm.run(["machine", "start"])).rejects.toThrow(failing("DISK_FULL", /No space left/));
  });

  it("sends its input, whole, and takes a program that reads none of it", async () => {
    const big = async function* () {
      for (let nth = 0; nth < 50; nth++) yield await Promise.resolve(Buffer.alloc(65_536, "x"));
    };
    const smolvm = install("wc -c");
    expect((await smolvm.run(["machine", "exec"], { input: big() })).stdout.trim()).toBe(String(50 * 65_536));
    const deaf = install("exit 3");
    expect((await deaf.call(["machine", "exec"], { input: big() })).code).toBe(3);
  });

  it("whose input fails is ended, and told as that failed", async () => {
    const broken = async function* () {
      yield await Promise.resolve(Buffer.from("x"));
      throw new Error("the tree is gone");
    };
    await expect(install("cat; sleep 100").run(["machine", "exec"], { input: broken() })).rejects.toThrow(
      "the tree is gone",
    );
  });

  it("is ended by its caller", async () => {
    const cancel = new AbortController();
    const call = install("sleep 100").run(["machine", "start"], { signal: cancel.signal });
    setTimeout(() => cancel.abort(), 50);
    await expect(call).rejects.toThrow(failing("CANCELLED", /./));
    await expect(install("true").run(["x"], { signal: cancel.signal })).rejects.toThrow(failing("CANCELLED", /./));
  });
});

describe("the status of a machine", () => {
  it("is undefined when there is none", async () => {
    const smolvm = install("echo \"Error: machine 'x' not found\" >&2; exit 1");
    expect(await smolvm.status("x")).toBeUndefined();
  });

  it.each(["<html>", "[]", "null", '{"state": 5}', ""])("that is %j is no status", async (text) => {
    const smolvm = install(`cat <<'END'\n${text}\nEND`);
    await expect(smolvm.status("x")).rejects.toThrow(failing("BACKEND_UNAVAILABLE", /smolvm machine status/));
  });
});

it("versions are compared by number", () => {
  expect(isOlder("1.8.0", "1.8.0")).toBe(false);
  expect(isOlder("1.10.0", "1.9.9")).toBe(false);
  expect(isOlder("1.7.12", "1.8.0")).toBe(true);
  expect(isOlder("0.99.0", "1.0.0")).toBe(true);
});
