import { createHash } from "node:crypto";

const MAGIC = 0xfe_ed_fe_ed;
const VERSION = 2;
const TRUSTED = 2;
/** What every Java expects. It keeps nothing secret: there are only certificates. */
const PASSWORD = "changeit";
const WHITENER = "Mighty Aphrodite";

/** A truststore as every Java reads it, in the format JKS, with these certificates in DER. */
export function javaTruststore(certificates: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt32BE(MAGIC, 0);
  head.writeUInt32BE(VERSION, 4);
  head.writeUInt32BE(certificates.length, 8);
  const entries = certificates.flatMap((certificate, index) => [
    number(TRUSTED),
    text(`cloche-${index}`),
    Buffer.alloc(8), // when it was made
    text("X.509"),
    number(certificate.length),
    certificate,
  ]);
  const body = Buffer.concat([head, ...entries]);
  const key = Buffer.from(PASSWORD, "utf16le").swap16();
  return Buffer.concat([body, createHash("sha1").update(key).update(WHITENER).update(body).digest()]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
