import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { PlannedUpstream } from "../../model/bottle-plan.ts";
import { sandboxGitConfig } from "./sandbox-config.ts";
import { spellingsOf } from "./upstream-urls.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "git-config-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const upstream = (name: string, url: string): PlannedUpstream => ({
  name,
  upstream_host: "",
  upstream_port: null,
  repo: { url },
  on_violation: "block",
});

/** Git itself, with a configuration as a sandbox has it. */
const git = (config: string, ...words: string[]): string => {
  const path = join(folder, "config");
  writeFileSync(path, config);
  const env = { PATH: process.env["PATH"], GIT_CONFIG_GLOBAL: path, GIT_CONFIG_SYSTEM: "/dev/null" };
  return execFileSync("git", ["-C", folder, ...words], { encoding: "utf8", env }).trim();
};

describe("the configuration of git in a sandbox", () => {
  const DOOR = "http://127.0.0.1:9418/app";

  it.each([
    "ssh://git@git.example.com:22/team/app.git",
    "ssh://deploy@git.example.com:2222/team/app",
    "git@git.example.com:team/app.git",
    "https://git.example.com/team/app.git",
    "https://git.example.com:8443/team/app",
    "http://git.example.com/team/app",
  ])("leads every spelling of %s to the door", (url) => {
    const config = sandboxGitConfig(null, [upstream("app", url)]);
    for (const [spelling, end] of [
      [url, url.endsWith(".git") ? ".git" : ""],
      ["git@git.example.com:team/app.git", ".git"],
      ["git@git.example.com:team/app", ""],
      ["ssh://git@git.example.com/team/app.git", ".git"],
      ["ssh://git.example.com/team/app", ""],
      ["ssh://git@git.example.com:22/team/app.git", ".git"],
      ["git@git.example.com:/team/app.git", ".git"],
      ["https://git.example.com:443/team/app.git", ".git"],
      ["git://git.example.com/team/app.git", ".git"],
      ["https://git.example.com/team/app.git", ".git"],
      ["http://git.example.com/team/app", ""],
    ] as const)
      expect(git(config, "ls-remote", "--get-url", spelling), spelling).toBe(`${DOOR}${end}`);
    for (const other of [
      "https://git.example.com/team/ap",
      "https://git.example.com/app.git",
      "git@other.example.com:team/app.git",
    ])
      expect(git(config, "ls-remote", "--get-url", other)).toBe(other);
  });

  it("leads a folder of the host to the door, by its URL and by its path", () => {
    expect(spellingsOf("file:///srv/app.git/")).toEqual(["file:///srv/app", "/srv/app"]);
    const config = sandboxGitConfig(null, [upstream("app", "file:///srv/app.git")]);
    for (const spelling of ["file:///srv/app.git", "/srv/app.git"])
      expect(git(config, "ls-remote", "--get-url", spelling)).toBe(`${DOOR}.git`);
  });

  it("takes the longer of two names, where one begins like the other", () => {
    const urls = { app: "https://git.example.com/team/app", two: "https://git.example.com/team/app-two" };
    const config = sandboxGitConfig(
      null,
      Object.entries(urls).map(([name, url]) => upstream(name, url)),
    );
    expect(git(config, "ls-remote", "--get-url", `${urls.two}.git`)).toBe("http://127.0.0.1:9418/two.git");
    expect(git(config, "ls-remote", "--get-url", `${urls.app}.git`)).toBe(`${DOOR}.git`);
  });

  it("says who commits are by, asks no proxy for the door, and has nothing signed without a key", () => {
    const identity = { name: 'The "Agent" \\ one', email: "agent@example.com" };
    const config = sandboxGitConfig(identity, [upstream("app", "git@git.example.com:team/app.git")]);
    expect(git(config, "config", "user.name")).toBe(identity.name);
    expect(git(config, "config", "user.email")).toBe(identity.email);
    expect(git(config, "config", "--get-urlmatch", "http.proxy", DOOR)).toBe("");
    for (const key of ["commit.gpgSign", "tag.gpgSign"]) expect(git(config, "config", key)).toBe("false");
    const signed = sandboxGitConfig(identity, [], { publicKey: "ssh-ed25519 AAAA", program: "/home/agent/sign" });
    for (const [key, value] of Object.entries({
      "commit.gpgSign": "true",
      "tag.gpgSign": "true",
      "gpg.format": "ssh",
      "gpg.ssh.program": "/home/agent/sign",
      "user.signingKey": "key::ssh-ed25519 AAAA",
    }))
      expect(git(signed, "config", key)).toBe(value);
  });
});
