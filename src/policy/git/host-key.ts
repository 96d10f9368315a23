import { createHash } from "node:crypto";

const TYPE =
  /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-ssh-ed25519@openssh\.com|sk-ecdsa-sha2-nistp256@openssh\.com)$/;

/** A public key of a host. */
export interface HostKey {
  readonly type: string;
  readonly base64: string;
  /** As ssh shows it. */
  readonly fingerprint: string;
}

/** Reads keys as they are in a `.pub` file or in `known_hosts`, one in a line. Undefined for what is none. */
export function readHostKeys(text: string): HostKey[] | undefined {
  const keys: HostKey[] = [];
  for (const line of text.split("\n")) {
    const words = line.trim().split(/\s+/);
    if (words[0] === "" || words[0]?.startsWith("#") === true) continue;
    const at = words.findIndex((word) => TYPE.test(word));
    const [type, base64] = at < 0 || at > 1 ? [] : words.slice(at);
    if (type === undefined || base64 === undefined || !holds(type, base64)) return undefined;
    keys.push({ type, base64, fingerprint: fingerprintOf(base64) });
  }
  return keys.length === 0 ? undefined : keys;
}

/** A key names its type itself. */
function holds(type: string, base64: string): boolean {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return false;
  const bytes = Buffer.from(base64, "base64");
  return (
    bytes.length > 4 && bytes.readUInt32BE(0) === type.length && bytes.toString("latin1", 4, 4 + type.length) === type
  );
}

const fingerprintOf = (base64: string): string =>
  `SHA256:${createHash("sha256").update(Buffer.from(base64, "base64")).digest("base64").replace(/=+$/, "")}`;
