import { createPublicKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { whyUnread } from "../base/why-unread.ts";
import { failure } from "../model/error-codes.ts";

/** What comes before the key itself in the encoding that Node reads: that it is an Ed25519 key. */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
const KEY_BYTES = 32;

/** The public key of the installation of a home, for whoever is to verify what it has signed. */
export const publicKeyFile = (home: string): string => join(home, "keys", "installation.pub");

/** A public key as cloche and `ssh-keygen` write it, or as PEM. */
export function readPublicKey(path: string): KeyObject {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw failure("KEY_UNUSABLE", `Cannot read the public key "${path}": ${whyUnread(error)}`, {
      hint: "Name the public key of the installation that signed it with --key; there it is keys/installation.pub in the cloche home",
    });
  }
  const key = sshKeyOf(text) ?? pemKeyOf(text);
  if (key?.asymmetricKeyType === "ed25519") return key;
  throw failure("KEY_UNUSABLE", `"${path}" is no public Ed25519 key`, {
    hint: "It is one line that begins with ssh-ed25519, or a public key in PEM",
  });
}

function sshKeyOf(text: string): KeyObject | undefined {
  const [, encoded] = /^ssh-ed25519 ([A-Za-z0-9+/=]+)(?:\s|$)/.exec(text) ?? [];
  if (encoded === undefined) return undefined;
  const raw = Buffer.from(encoded, "base64").subarray(-KEY_BYTES);
  return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, raw]), type: "spki", format: "der" });
}

function pemKeyOf(text: string): KeyObject | undefined {
  // SECURITY: a private key is no public key: whoever is asked for one must not pass the other on (G-94)
  if (text.includes("PRIVATE KEY")) return undefined;
  try {
    return createPublicKey(text);
  } catch {
    return undefined;
  }
}
