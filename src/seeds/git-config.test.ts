import { describe, expect, it } from "vitest";
import { safeGitConfig, safeRemoteUrl } from "./git-config.ts";

describe("safeRemoteUrl()", () => {
  it.each([
    ["https://user:token@example.invalid/a.git", "https://example.invalid/a.git"],
    ["https://token@example.invalid/a.git?private_token=x#y", "https://example.invalid/a.git"],
    ["ssh://git:word@example.invalid:22/a.git", "ssh://git@example.invalid:22/a.git"],
    ["git@example.invalid:owner/a.git", "git@example.invalid:owner/a.git"],
    ["/home/user/a.git", undefined],
    ["../a.git", undefined],
    ["file:///home/user/a.git", undefined],
    ["ext::sh -c touch% /tmp/x", undefined],
    ["user:word@example.invalid:a", undefined],
    ["https://", undefined],
  ])("makes %s %s", (url, safe) => {
    expect(safeRemoteUrl(url)).toBe(safe);
  });
});

describe("safeGitConfig()", () => {
  it("keeps what is on the list and quotes it", () => {
    const listing = [
      "core.filemode\ntrue",
      "core.symlinks",
      "core.sshcommand\nevil",
      'remote.a"b\\c.url\nhttps://u:p@example.invalid/x',
      'remote.a"b\\c.proxy\nevil',
      "branch.x.y.merge\nrefs/heads/x\n\tevil = 1",
      "include.path\n/etc/evil",
      "includeif.gitdir:/.path\n/etc/evil",
      "url.https://u:p@example.invalid/.insteadof\nx",
      "",
    ].join("\0");
    expect(safeGitConfig(listing)).toBe(
      [
        "[core]",
        '\tfilemode = "true"',
        '\tsymlinks = "true"',
        "\tbare = false",
        "\tcheckStat = minimal",
        '[remote "a\\"b\\\\c"]',
        '\turl = "https://example.invalid/x"',
        '[branch "x.y"]',
        '\tmerge = "refs/heads/x\\n\\tevil = 1"',
        "",
      ].join("\n"),
    );
  });
});
