import { createHash, type KeyObject } from "node:crypto";
import { isSigned } from "./is-signed.ts";

const ALGORITHM = "ssh-ed25519";
const MAGIC = "SSHSIG";
const VERSION = 1;
const HASH = "sha512";
const SIGNATURE_BYTES = 64;
/** As `ssh-keygen` breaks its lines. */
const LINE = 70;
/** Before the key itself, in the encoding that Node exports: what kind of key it is. */
const SPKI_PREFIX_BYTES = 12;

/** A string of the SSH protocol: its length, then its bytes. */
function sshString(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function keyBlob(publicKey: KeyObject): Buffer {
  const raw = publicKey.export({ type: "spki", format: "der" }).subarray(SPKI_PREFIX_BYTES);
  return Buffer.concat([sshString(ALGORITHM), sshString(raw)]);
}

/** A public key as in `authorized_keys` and `allowed_signers`, without a comment. */
export const sshPublicKey = (publicKey: KeyObject): string => `${ALGORITHM} ${keyBlob(publicKey).toString("base64")}`;

/** What is signed for data of that namespace: `PROTOCOL.sshsig` of OpenSSH describes it. */
function signedPart(data: Uint8Array, namespace: string): Buffer {
  const digest = createHash(HASH).update(data).digest();
  return Buffer.concat([Buffer.from(MAGIC), sshString(namespace), sshString(""), sshString(HASH), sshString(digest)]);
}

interface SshSigner {
  readonly publicKey: KeyObject;
  sign(data: Uint8Array): Uint8Array;
}

/** A signature that `ssh-keygen -Y verify -n NAMESPACE` takes. */
export const sshSignature = (data: Uint8Array, namespace: string, signer: SshSigner): string =>
  armoured(signer.sign(signedPart(data, namespace)), namespace, signer.publicKey);

/** Whether a text is that signature: one of these bytes, for that namespace, by that key, and written as `sshSignature` does. */
export function isSshSigned(data: Uint8Array, namespace: string, text: string, publicKey: KeyObject): boolean {
  const [, encoded = ""] =
    /^-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)-----END SSH SIGNATURE-----\n$/.exec(text) ?? [];
  const signature = Buffer.from(encoded, "base64").subarray(-SIGNATURE_BYTES);
  if (text !== armoured(signature, namespace, publicKey)) return false;
  return isSigned(signedPart(data, namespace), signature, publicKey);
}

function armoured(bytes: Uint8Array, namespace: string, publicKey: KeyObject): string {
  const version = Buffer.alloc(4);
  version.writeUInt32BE(VERSION);
  const signature = Buffer.concat([sshString(ALGORITHM), sshString(bytes)]);
  const blob = Buffer.concat([
    Buffer.from(MAGIC),
    version,
    sshString(keyBlob(publicKey)),
    sshString(namespace),
    sshString(""),
    sshString(HASH),
    sshString(signature),
  ]);
  const lines = blob.toString("base64").match(new RegExp(`.{1,${LINE}}`, "g")) ?? [];
  return ["-----BEGIN SSH SIGNATURE-----", ...lines, "-----END SSH SIGNATURE-----", ""].join("\n");
}
