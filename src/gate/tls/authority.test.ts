import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Authority, newAuthority } from "./authority.ts";

const SUBJECT = "cloche ws-0123456789";
const HOUR = 3_600_000;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-ca-"));
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const leafOf = (chain: string): X509Certificate => new X509Certificate(chain);

describe("certificates for a host", () => {
  const keys = newAuthority(SUBJECT);
  const authority = new Authority(SUBJECT, keys);

  it.each(["api.example.com", "xn--bcher-kva.example", `${"a".repeat(60)}.${"b".repeat(60)}.example`])(
    "pass the strictest check there is, for %s and no other name",
    (host) => {
      const trusted = file("ca.pem", keys.certificate);
      const leaf = file("leaf.pem", authority.chain(host));
      const verify = (name: string) =>
        execFileSync(
          "openssl",
          ["verify", "-x509_strict", "-purpose", "sslserver", "-verify_hostname", name, "-CAfile", trusted, leaf],
          { stdio: "pipe" },
        ).toString();
      expect(verify(host)).toContain("OK");
      expect(() => verify("other.example.com")).toThrow();
    },
  );

  it.each([-25, -1, 1, 24])("are good for a client whose clock is %i hours off", (hours) => {
    const own = newAuthority(SUBJECT);
    const trusted = file("ca.pem", own.certificate);
    const leaf = file("leaf.pem", new Authority(SUBJECT, own).chain("a.example"));
    const time = String(Math.floor((Date.now() + hours * HOUR) / 1000));
    const verified = execFileSync("openssl", ["verify", "-x509_strict", "-attime", time, "-CAfile", trusted, leaf]);
    expect(verified.toString()).toContain("OK");
  });

  it("say which key signed them, and are short-lived", () => {
    const leaf = leafOf(authority.chain("a.example"));
    const text = execFileSync("openssl", ["x509", "-noout", "-ext", "subjectKeyIdentifier,authorityKeyIdentifier"], {
      input: authority.chain("a.example"),
    }).toString();
    expect(text.match(/[0-9A-F]{2}(:[0-9A-F]{2}){19}/g)).toHaveLength(2);
    expect(leaf.subjectAltName).toBe("DNS:a.example");
    expect(new Date(leaf.validTo).getTime() - Date.now()).toBeLessThan(72 * HOUR);
    expect(new Date(leaf.validFrom).getTime()).toBeLessThan(Date.now() - 24 * HOUR);
    expect(leaf.verify(new X509Certificate(keys.certificate).publicKey)).toBe(true);
  });

  it("are the same until they get old, and good after the clock was set", () => {
    vi.useFakeTimers({ now: Date.now(), toFake: ["Date"] });
    const first = authority.chain("b.example");
    expect(authority.chain("b.example")).toBe(first);
    for (const hours of [30, -100]) {
      vi.setSystemTime(Date.now() + hours * HOUR);
      const leaf = leafOf(authority.chain("b.example"));
      expect(new Date(leaf.validFrom).getTime()).toBeLessThan(Date.now());
      expect(new Date(leaf.validTo).getTime()).toBeGreaterThan(Date.now() + 24 * HOUR);
    }
  });

  it("G-28 are kept for a bounded number of hosts", () => {
    const own = new Authority(SUBJECT, keys);
    const first = own.chain("first.example");
    for (let number = 0; number < 511; number++) own.chain(`n${number}.example`);
    expect(own.chain("first.example")).toBe(first);
    own.chain("one-more.example");
    expect(own.chain("first.example")).not.toBe(first);
  });
});
