import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";

/** Ten minutes, without what it takes to make peers and trees ready. */
const SECONDS = 510;

type Interleave = (plan: {
  rounds: number;
  seconds: number;
  warmUp: number;
  cases: Record<string, () => Promise<number>>;
}) => Promise<Record<string, number[]>>;

function bench(...argv: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["bench/bench.mjs", ...argv], { encoding: "utf8" });
  return { status, stdout, stderr };
}

const listed = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/\s+/));

describe("make bench", () => {
  it("gives its rows less than ten minutes together", () => {
    const rows = listed(bench("--list").stdout);
    const seconds = rows.reduce((sum, [, one]) => sum + Number(one), 0);
    expect(rows.map(([name]) => name)).toEqual(expect.arrayContaining(["exec", "work", "crowd", "busy", "events"]));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(SECONDS);
  });

  it("takes one row or several, and runs them in the order of the table", () => {
    const names = (only: string) => listed(bench("--only", only, "--list").stdout).map(([name]) => name);
    expect(names("exec")).toEqual(["exec"]);
    expect(names("version, exec")).toEqual(["exec", "version"]);
  });

  it("names the rows to who asks for one that is not there, and measures nothing", () => {
    const { status, stdout, stderr } = bench("--only", "exec,nothing");
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/^error: There is no row "nothing"\nhint: The rows are create, exec, .*\n$/);
    expect(bench("--only", "").stderr).toContain('There is no row ""');
  });

  it("passes ROW on", () => {
    const { stdout } = spawnSync("make", ["--dry-run", "bench", "ROW=exec,work"], { encoding: "utf8" });
    expect(stdout).toContain('node bench/bench.mjs --only "exec,work"');
  });

  it("ends a row when its time is up, but not before the third round", async () => {
    const { interleave } = (await import(pathToFileURL(resolve("bench/interleave.mjs")).href)) as {
      interleave: Interleave;
    };
    const rounds = async (seconds: number) =>
      (await interleave({ rounds: 5, seconds, warmUp: 1, cases: { one: () => Promise.resolve(1) } }))["one"]?.length;
    expect(await Promise.all([rounds(0), rounds(Infinity)])).toEqual([3, 5]);
  });
});
