import { bundleFromJSON } from "@sigstore/bundle";
import { toSignedEntity, toTrustMaterial, Verifier } from "@sigstore/verify";
import { execFileSync, spawnSync } from "node:child_process";
import { createPublicKey } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRandom } from "../../test/helpers/random.ts";
import { canonicalJson } from "../base/canonical-json.ts";
import { bundleText, keyId, openStatement, signStatement } from "./dsse.ts";
import { InstallationKey } from "./installation-key.ts";
import { sshSignature } from "./ssh-signature.ts";

const STATEMENT = canonicalJson({
  _type: "https://in-toto.io/Statement/v1",
  subject: [{ name: "é\u2028", digest: { sha256: "00" } }],
});
const NAMESPACE = "cloche-evidence";

let homes: string[];
let key: InstallationKey;
let other: InstallationKey;
beforeAll(() => {
  homes = ["a", "b"].map((name) => mkdtempSync(join(tmpdir(), `cloche-key-${name}-`)));
  [key, other] = homes.map((home) => InstallationKey.open(home)) as [InstallationKey, InstallationKey];
});
afterAll(() => homes.forEach((home) => rmSync(home, { recursive: true })));

describe("a signed statement", () => {
  it("is what @sigstore/verify takes, by its key and by no other", () => {
    const verifier = (trusted: InstallationKey) =>
      new Verifier(
        toTrustMaterial(
          { mediaType: "", certificateAuthorities: [], ctlogs: [], timestampAuthorities: [], tlogs: [] },
          () => ({
            publicKey: createPublicKey(trusted.publicKey.export({ type: "spki", format: "pem" })),
            validFor: () => true,
          }),
        ),
        { ctlogThreshold: 0, tlogThreshold: 0, timestampThreshold: 0 },
      );
    const bundle = bundleFromJSON(JSON.parse(bundleText(signStatement(STATEMENT, key))));
    expect(() => verifier(key).verify(toSignedEntity(bundle))).not.toThrow();
    expect(() => verifier(other).verify(toSignedEntity(bundle))).toThrow();
  });

  it("G-94 opens for its key only, and not with any bit of its file changed", () => {
    const text = bundleText(signStatement(STATEMENT, key));
    expect(openStatement(text, key.publicKey)).toEqual({ statement: STATEMENT });
    expect(openStatement(text, other.publicKey)).toEqual({ problem: "another key has signed it" });
    const random = createRandom(20_261_118);
    const bytes = Buffer.from(text);
    for (let round = 0; round < 500; round++) {
      const at = random(bytes.length);
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << random(8));
      expect(openStatement(changed.toString("utf8"), key.publicKey), `byte ${at}`).toHaveProperty("problem");
    }
    for (const cut of ["", "{", text.slice(0, -20), text.trimEnd(), "null", "[]"])
      expect(openStatement(cut, key.publicKey)).toHaveProperty("problem");
  });

  it("G-94 does not trust a key because the file names it", () => {
    const theirs = signStatement(STATEMENT, other);
    const named = JSON.parse(
      bundleText(theirs).replaceAll(keyId(other.publicKey), keyId(key.publicKey)),
    ) as typeof theirs;
    expect(openStatement(bundleText(named), key.publicKey)).toEqual({
      problem: "its signature does not fit its content",
    });
  });
});

describe("a signature for ssh-keygen", () => {
  it("is taken by it for that data, namespace and key, and for no other", () => {
    const [home = ""] = homes;
    const data = Buffer.from(`${STATEMENT}\n`);
    const signature = join(home, "file.sig");
    const signers = join(home, "allowed_signers");
    writeFileSync(signature, sshSignature(data, NAMESPACE, key));
    writeFileSync(signers, `cloche ${readFileSync(key.publicFile, "utf8")}`);
    const verify = (input: Buffer, namespace = NAMESPACE) =>
      spawnSync("ssh-keygen", ["-Y", "verify", "-f", signers, "-I", "cloche", "-n", namespace, "-s", signature], {
        input,
      }).status;
    expect(verify(data)).toBe(0);
    expect(verify(Buffer.from("other"))).not.toBe(0);
    expect(verify(data, "file")).not.toBe(0);
    writeFileSync(signers, `cloche ${readFileSync(other.publicFile, "utf8")}`);
    expect(verify(data)).not.toBe(0);
    expect(execFileSync("ssh-keygen", ["-l", "-f", key.publicFile], { encoding: "utf8" })).toMatch(
      /^256 SHA256:.* cloche \(ED25519\)/,
    );
  });
});

describe("one text for one value", () => {
  it("has its keys in order, and nothing that JSON has not", () => {
    expect(canonicalJson({ b: [1, 1.5, true, null], a: "\u0000é", "": {} })).toBe(
      '{"":{},"a":"\\u0000é","b":[1,1.5,true,null]}',
    );
    expect(() => canonicalJson(Number.NaN)).toThrow(TypeError);
  });
});
