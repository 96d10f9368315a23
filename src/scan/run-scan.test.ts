import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDetector } from "../policy/dlp/create-detector.ts";
import type { TextFinding } from "../policy/dlp/finding.ts";
import { sample, URLSAFE } from "../policy/dlp/rules/rule-shapes.ts";
import { runScan } from "./run-scan.ts";
import { WindowedScan } from "../policy/dlp/windowed-scan.ts";

/** Put together here, so that no whole token is in the source. */
const TOKEN = `sk-ant-api03-${sample(URLSAFE, 60)}`;
const OTHER = `ghp_${sample("A-Za-z0-9", 36)}`;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "scan-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

const scan = (target = ".") => runScan(target, folder, () => undefined);
const write = (name: string, text: string | Buffer) => writeFileSync(join(folder, name), text);

describe("a scan of a folder", () => {
  it("G-59 says where a secret is and by which rule, and never what it is", async () => {
    mkdirSync(join(folder, "deep/.git"), { recursive: true });
    write("deep/config.txt", `first\nsecond\n  key = ${TOKEN}\n`);
    write("deep/.git/config", TOKEN);
    write(`${TOKEN}.txt`, Buffer.from(TOKEN).toString("base64"));
    write("plain.txt", "nothing here");
    symlinkSync(join(folder, "deep/config.txt"), join(folder, "link"));
    const report = await scan();
    expect(report).toMatchObject({ kind: "folder", file_count: 3, skipped: [], truncated: false });
    expect(report.findings).toContainEqual(
      expect.objectContaining({
        file: "deep/config.txt",
        line: 3,
        column: 9,
        rule: "anthropic-key",
        place: "content",
        commit: null,
      }),
    );
    expect(report.findings).toContainEqual(expect.objectContaining({ place: "path", rule: "anthropic-key" }));
    expect(report.findings).toContainEqual(expect.objectContaining({ place: "content", view: "base64" }));
    expect(JSON.stringify(report)).not.toContain(TOKEN.slice(20, 40));
    expect(JSON.stringify(report)).not.toContain("link");
  });

  it("finds what lies over the border of two windows, once, at its line", () => {
    const window = 64 * 1024;
    for (const before of [window - 30, window - 20_000, 3 * window - 10, 150_000]) {
      const line = `${"word ".repeat(19)}end.\n`;
      const lines = Math.floor(before / 100);
      const text = `${line.repeat(lines)}${"y".repeat(before % 100)} ${TOKEN}\n${line.repeat(500)}`;
      const findings: TextFinding[] = [];
      const windowed = new WindowedScan(
        createDetector({ known: [] }).scope(),
        "large",
        (one) => findings.push(one),
        window,
      );
      for (let at = 0; at < text.length; at += 7000) windowed.push(Buffer.from(text.slice(at, at + 7000)));
      windowed.end();
      expect(findings).toHaveLength(1);
      expect(findings[0]).toMatchObject({ line: lines + 1, column: (before % 100) + 2 });
    }
  });

  it("says what it could not read, and what is not there", async () => {
    await expect(scan("missing")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(scan("a..b")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    symlinkSync("/dev/zero", join(folder, "zero"));
    expect((await scan("zero")).skipped).toEqual([{ file: expect.any(String) as string, reason: "it is a link" }]);
  });
});

describe("a scan of a range of commits", () => {
  const git = (...words: string[]) =>
    execFileSync(
      "git",
      ["-c", "user.name=a", "-c", "user.email=a@example.test", "-c", "commit.gpgSign=false", ...words],
      {
        cwd: folder,
        stdio: ["ignore", "pipe", "pipe"],
      },
    )
      .toString()
      .trim();
  const commit = (message: string) => {
    git("add", "-A");
    git("commit", "-q", "--allow-empty", "-m", message);
    return git("rev-parse", "HEAD");
  };

  it("G-59 finds what was brought in and taken away again, in blobs, paths, messages and merges", async () => {
    git("init", "-q", "-b", "main");
    write("before.txt", OTHER);
    const base = commit("base");
    write("gone.txt", `a\n${TOKEN}\n`);
    const brought = commit("bring it in\x02\x01:100 200 300 400 A");
    rmSync(join(folder, "gone.txt"));
    const said = commit(`take it away\n\nit was ${OTHER}`);
    git("checkout", "-q", "-b", "side", base);
    write("side.txt", "side");
    commit("side");
    git("checkout", "-q", "main");
    git("merge", "-q", "--no-commit", "--no-ff", "side");
    write("evil.txt", TOKEN);
    const merge = commit("merge");
    git("config", "log.showRoot", "false");
    git("config", "log.showSignature", "true");
    const report = await scan(`${base}..main`);
    expect(report).toMatchObject({ kind: "range", commit_count: 4 });
    const found = report.findings.map(({ commit: by, place, file, line, rule }) => [by, place, file, line, rule]);
    expect(found).toContainEqual([brought, "content", "gone.txt", 2, "anthropic-key"]);
    expect(found).toContainEqual([said, "message", null, 3, "github-pat"]);
    expect(found).toContainEqual([merge, "content", "evil.txt", 1, "anthropic-key"]);
    expect(found.some(([, , file]) => file === "before.txt")).toBe(false);
    expect(
      new Set(report.findings.filter(({ rule }) => rule === "anthropic-key").map((one) => one.fingerprint)).size,
    ).toBe(1);
  });

  describe("G-59 is not told less of a range by what lies beside its commits:", () => {
    /** A range of which each commit but the last is undone by it, and the merge that brought a secret in. */
    function hiddenRange(): { base: string; tip: string; merge: string } {
      git("init", "-q", "-b", "main");
      const base = commit("base");
      git("checkout", "-q", "-b", "side");
      write("side.txt", "side");
      commit("side");
      git("checkout", "-q", "main");
      write("main.txt", "main");
      commit("main");
      git("merge", "-q", "--no-commit", "--no-ff", "side");
      write("evil.txt", TOKEN);
      const merge = commit("merge");
      rmSync(join(folder, "evil.txt"));
      return { base, tip: commit("undo"), merge };
    }
    const ways: Readonly<Record<string, (range: { base: string; tip: string; merge: string }) => void>> = {
      "no diffs of merges": () => git("config", "log.diffMerges", "off"),
      "combined diffs of merges": () => git("config", "log.diffMerges", "combined"),
      "a commit that replaces another": ({ base, tip }) => git("replace", "--graft", tip, base),
      "a file that replaces another": ({ merge }) => {
        write("plain.txt", "plain");
        git("replace", git("rev-parse", `${merge}:evil.txt`), git("hash-object", "-w", "plain.txt"));
      },
      "a graft": ({ base, tip }) => write(".git/info/grafts", `${tip} ${base}\n`),
      "a shallow border": ({ tip }) => write(".git/shallow", `${tip}\n`),
    };
    it.each(Object.keys(ways))("%s", async (way) => {
      const range = hiddenRange();
      ways[way]?.(range);
      const { findings } = await scan(`${range.base}..${range.tip}`);
      expect(findings).toContainEqual(expect.objectContaining({ commit: range.merge, file: "evil.txt" }));
    });
  });

  it("G-59 reads a commit as it is: behind a NUL, in another encoding, and who it is by", async () => {
    git("init", "-q", "-b", "main");
    const base = commit("base");
    const made = (extra: string, by: string, message: string) => {
      const person = `${by} <a@example.test> 1 +0000`;
      const tree = git("rev-parse", `${base}^{tree}`);
      write("commit", `tree ${tree}\nparent ${base}\nauthor ${person}\ncommitter ${person}\n${extra}\n${message}\n`);
      return git("hash-object", "--literally", "-w", "-t", "commit", "commit");
    };
    const commits = [
      made("", "a", `first\n\0${TOKEN}`),
      made("encoding IBM037\n", "a", TOKEN),
      made(`note ${TOKEN}\n`, "a", "plain"),
      made("", TOKEN, "plain"),
    ];
    for (const id of commits) {
      const { findings } = await scan(`${base}..${id}`);
      expect(findings).toContainEqual(expect.objectContaining({ commit: id, place: "message", rule: "anthropic-key" }));
    }
  });

  it("G-59 sees what is beside the folder that it is run in, whatever the repository says", async () => {
    git("init", "-q", "-b", "main");
    const base = commit("base");
    mkdirSync(join(folder, "below"));
    write("below/plain.txt", "plain");
    write("beside.txt", TOKEN);
    commit("both");
    git("config", "diff.relative", "true");
    const { findings } = await runScan(`${base}..main`, join(folder, "below"), () => undefined);
    expect(findings).toContainEqual(expect.objectContaining({ file: "beside.txt" }));
  });

  it("G-59 fetches nothing that is missing, and runs no program of the repository's choice for it", async () => {
    git("init", "-q", "-b", "main");
    const base = commit("base");
    write("missing.txt", TOKEN);
    commit("with a file");
    const blob = git("rev-parse", "HEAD:missing.txt");
    rmSync(join(folder, ".git/objects", blob.slice(0, 2), blob.slice(2)));
    git("config", "core.repositoryFormatVersion", "1");
    git("config", "extensions.partialClone", "origin");
    git("config", "remote.origin.promisor", "true");
    git("config", "remote.origin.url", "ssh://nowhere.invalid/repository");
    git("config", "core.sshCommand", `touch ${join(folder, "ran")}; false`);
    await scan(`${base}..main`).catch(() => undefined);
    expect(existsSync(join(folder, "ran"))).toBe(false);
  });

  it("sees the first commit too, and refuses what is no range", async () => {
    git("init", "-q", "-b", "main");
    const empty = git("commit-tree", "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "-m", "nothing");
    write("first.txt", TOKEN);
    commit("first");
    expect((await scan(`${empty}..HEAD`)).findings).toHaveLength(1);
    await expect(scan("nothing..HEAD")).rejects.toThrow(/Cannot read the range/);
    await expect(scan("--output=x..y")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});
