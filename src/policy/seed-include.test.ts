import { describe, expect, it } from "vitest";
import { SeedInclude } from "./seed-include.ts";

const SECRETS = [
  ".env",
  ".env.local",
  "config/.env",
  "prod.env",
  ".envrc",
  "server.pem",
  "tls/Server.PEM",
  "private.key",
  "id_rsa",
  "id_ed25519",
  "id_rsa.bak",
  ".npmrc",
  ".netrc",
  ".git-credentials",
  ".aws/config",
  ".ssh/known_hosts",
  "credentials.json",
  "terraform.tfstate.backup",
];

describe("G-32: what is likely to be a secret comes only with a glob that names it", () => {
  it.each(SECRETS)("%s", (path) => {
    for (const globs of [
      [],
      ["**"],
      ["*"],
      ["*.*"],
      ["?*"],
      ["config/**"],
      [".e*"],
      ["*v"],
      ["tls"],
      ["*/*"],
      [".a*"],
    ]) {
      expect(new SeedInclude({ ignored: true, globs }).lets(path), globs.join()).toBe(false);
    }
    const named = new SeedInclude({ ignored: false, globs: [path] });
    expect([named.covers(path), named.lets(path)]).toEqual(["all", true]);
  });

  it("takes a name with wildcards for a name, and no other glob's", () => {
    const lets = (glob: string, path: string) => new SeedInclude({ ignored: true, globs: [glob] }).lets(path);
    expect(lets(".env*", ".env.local")).toBe(true);
    expect(lets("*.pem", "tls/a.pem")).toBe(true);
    expect(lets(".ssh", ".ssh/id_rsa")).toBe(true);
    expect(lets(".env", "server.pem")).toBe(false);
    expect(lets("/.env", "config/.env")).toBe(false);
  });

  it("lets what programs need of public certificates, and files that only sound so", () => {
    const include = new SeedInclude({ ignored: true, globs: [] });
    for (const path of [
      "lib/certifi/cacert.pem",
      "aws-sdk/lib/credentials/token.js",
      "lib/id_map.js",
      "keys.js",
      "secrets.py",
      ".env/bin/python",
    ])
      expect(include.lets(path), path).toBe(true);
  });
});

describe("rules for ignored files", () => {
  it("say which globs matched nothing", () => {
    const include = new SeedInclude({ ignored: false, globs: ["dist", "node_modules"] });
    expect([include.covers("dist"), include.covers("other")]).toEqual(["all", "below"]);
    expect(include.unmatched).toEqual(["node_modules"]);
  });
});
