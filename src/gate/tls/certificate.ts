import { type KeyObject, createHash, randomBytes, sign } from "node:crypto";
import { bits, boolean, explicit, implicit, integer, octets, oid, sequence, set, time, utf8 } from "./der.ts";

const ECDSA_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));
const COMMON_NAME = oid("2.5.4.3");
const BASIC_CONSTRAINTS = oid("2.5.29.19");
const KEY_USAGE = oid("2.5.29.15");
const EXTENDED_KEY_USAGE = oid("2.5.29.37");
const SERVER_AUTH = oid("1.3.6.1.5.5.7.3.1");
const ALTERNATIVE_NAME = oid("2.5.29.17");
const SUBJECT_KEY = oid("2.5.29.14");
const AUTHORITY_KEY = oid("2.5.29.35");
/** The longest common name that the standard knows. */
const MAX_COMMON_NAME = 64;

export interface CertificateSpec {
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly issuer: { readonly name: string; readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** The names that it is for; an authority has none. */
  readonly hosts?: readonly string[];
}

/** An X.509 certificate in PEM: of an authority that signs servers, or of a server. Keys are of the curve P-256. */
export function certificate(spec: CertificateSpec): string {
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))), // version 3
    integer(serial()),
    ECDSA_SHA256,
    name(spec.issuer.name),
    sequence(time(spec.notBefore), time(spec.notAfter)),
    name(spec.subject),
    spki(spec.publicKey),
    explicit(3, sequence(...extensions(spec))),
  );
  const signed = sequence(body, ECDSA_SHA256, bits(sign("sha256", body, spec.issuer.privateKey)));
  const lines = signed.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

function extensions({ publicKey, issuer, hosts }: CertificateSpec): Buffer[] {
  const subjectKey = extension(SUBJECT_KEY, octets(keyId(publicKey)));
  if (!hosts) {
    return [
      extension(BASIC_CONSTRAINTS, sequence(boolean(true), integer(Buffer.from([0]))), true),
      extension(KEY_USAGE, bits(Buffer.from([0b0000_0110]), 1), true), // signs certificates and lists of revoked ones
      subjectKey,
    ];
  }
  return [
    extension(BASIC_CONSTRAINTS, sequence(), true),
    extension(KEY_USAGE, bits(Buffer.from([0b1000_0000]), 7), true), // signs handshakes
    extension(EXTENDED_KEY_USAGE, sequence(SERVER_AUTH)),
    extension(ALTERNATIVE_NAME, sequence(...hosts.map((host) => implicit(2, Buffer.from(host))))),
    subjectKey,
    // Python 3.13 and newer insist on it.
    extension(AUTHORITY_KEY, sequence(implicit(0, keyId(issuer.publicKey)))),
  ];
}

const extension = (id: Buffer, value: Buffer, critical = false): Buffer =>
  sequence(id, ...(critical ? [boolean(true)] : []), octets(value));

const name = (text: string): Buffer => sequence(set(sequence(COMMON_NAME, utf8(text.slice(0, MAX_COMMON_NAME)))));

/** Positive, and never twice. */
function serial(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

const spki = (key: KeyObject): Buffer => key.export({ type: "spki", format: "der" });

/** Of the key's bits alone, without what says of which kind it is; of a P-256 key that is the last 65 bytes. */
const keyId = (key: KeyObject): Buffer => createHash("sha1").update(spki(key).subarray(-65)).digest();
