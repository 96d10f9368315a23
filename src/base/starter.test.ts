import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, URL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startRole } from "./starter.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "cl-starter-"))));
afterEach(() => rmSync(folder, { recursive: true }));

/** The processes of this one that are starters. */
const starters = (): number[] =>
  readFileSync(`/proc/self/task/${process.pid}/children`, "latin1")
    .split(" ")
    .filter((pid) => pid && readFileSync(`/proc/${pid}/cmdline`, "latin1").endsWith("starter\0"))
    .map(Number);

async function play(words: readonly string[], log?: string): Promise<{ code: number | undefined; said: string }> {
  let said = "";
  const { ended } = await startRole(words, { log, onStatus: (text) => (said += text) });
  return { code: await ended, said };
}

describe("startRole()", () => {
  it("gives the exit code and what was said on the way", async () => {
    const { code, said } = await play(["copy-layer"]);
    expect(code).toBe(125);
    expect(said).toContain("missing option");
    expect((await play(["remove", folder, "nothing-there"])).code).toBe(0);
  });

  it("starts many at once, all from one process, in sessions of their own", async () => {
    const all = await Promise.all(Array.from({ length: 50 }, (_, index) => play(["remove", folder, `n${index}`])));
    expect(all.map(({ code }) => code)).toEqual(all.map(() => 0));
    expect(starters()).toHaveLength(1);
  });

  it("gives a role its log, which nobody else can read, and hears its status", async () => {
    const log = join(folder, "log");
    const { code, said } = await play(["wall", "--directory", join(folder, "missing")], log);
    expect(code).toBe(125);
    expect(said).toMatch(/^E/);
    expect(readFileSync(log, "utf8")).toContain("missing option");
    expect(statSync(log).mode & 0o777).toBe(0o600);
  });

  it("says why nothing was started", async () => {
    await expect(play(["remove", folder, "x"], join(folder, "no/such/log"))).rejects.toThrow(/No such file/);
    await expect(play(["remove", "x".repeat(2 << 20)])).rejects.toThrow("too long");
    expect((await play(["no-such-role"])).code).toBe(125);
  });

  it("is started again when it was ended", async () => {
    await play(["remove", folder, "x"]);
    const [before] = starters();
    process.kill(before!, "SIGKILL");
    // The one that is asked just now may be lost with it, and is told so.
    await play(["remove", folder, "x"]).catch((error: unknown) => expect(String(error)).toContain("was ended"));
    expect((await play(["remove", folder, "x"])).code).toBe(0);
    expect(starters()).not.toContain(before);
  });

  it("holds its process while somebody waits, and no longer; then it ends too", () => {
    const starter = fileURLToPath(new URL("../../dist/base/starter.js", import.meta.url));
    const script = `
      import { startRole } from ${JSON.stringify(starter)};
      const { ended } = await startRole(["remove", ${JSON.stringify(folder)}, "x"], { onStatus: () => {} });
      const { readFileSync } = await import("node:fs");
      console.log(await ended, readFileSync("/proc/self/task/" + process.pid + "/children", "latin1").trim());`;
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      timeout: 30_000,
      encoding: "utf8",
    });
    const [code, pid] = printed.trim().split(" ");
    expect(code).toBe("0");
    expect(existsSync(`/proc/${pid!}`) && readFileSync(`/proc/${pid!}/cmdline`, "latin1").includes("starter")).toBe(
      false,
    );
  });
});
