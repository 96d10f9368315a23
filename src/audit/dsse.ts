import { createHash, type KeyObject } from "node:crypto";
import { isSigned } from "./is-signed.ts";

/** A signed statement, as others' tools take it: an envelope of DSSE in a bundle of Sigstore. */
export interface SignedBundle {
  readonly mediaType: typeof BUNDLE_TYPE;
  readonly verificationMaterial: { readonly publicKey: { readonly hint: string } };
  readonly dsseEnvelope: {
    readonly payload: string;
    readonly payloadType: typeof STATEMENT_TYPE;
    readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
  };
}

const BUNDLE_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json";
const STATEMENT_TYPE = "application/vnd.in-toto+json";

interface Signer {
  readonly publicKey: KeyObject;
  sign(data: Uint8Array): Buffer;
}

/** What tells one key from another: the hash of its usual encoding. */
export const keyId = (publicKey: KeyObject): string =>
  createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("hex");

/** What is signed: the type and the content, each with its length, so that neither can pass for a part of the other. */
function preAuthentication(type: string, payload: Uint8Array): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

export function signStatement(statement: string, signer: Signer): SignedBundle {
  const payload = Buffer.from(statement);
  const signature = signer.sign(preAuthentication(STATEMENT_TYPE, payload));
  return bundleOf(payload, signature, keyId(signer.publicKey));
}

/** As a bundle is written to a file. */
export const bundleText = (bundle: SignedBundle): string => `${JSON.stringify(bundle, undefined, 2)}\n`;

/** The statement in the text of a bundle, when that key has signed it; else why not. */
export function openStatement(text: string, publicKey: KeyObject): { statement: string } | { problem: string } {
  const envelope = envelopeOf(text);
  if (!envelope) return { problem: "it is no bundle with a statement" };
  const keyid = keyId(publicKey);
  // SECURITY: the key is the verifier's, never one that the file brings or names (G-94)
  if (envelope.keyid !== keyid) return { problem: "another key has signed it" };
  if (!isSigned(preAuthentication(STATEMENT_TYPE, envelope.payload), envelope.signature, publicKey)) {
    return { problem: "its signature does not fit its content" };
  }
  // SECURITY: one text for one statement: what was changed beside the signed part shows too (G-94)
  if (text !== bundleText(bundleOf(envelope.payload, envelope.signature, keyid))) {
    return { problem: "it was changed beside what is signed" };
  }
  return { statement: envelope.payload.toString("utf8") };
}

function envelopeOf(text: string): { payload: Buffer; signature: Buffer; keyid: unknown } | undefined {
  try {
    const { dsseEnvelope } = JSON.parse(text) as SignedBundle;
    const [signature] = dsseEnvelope.signatures;
    if (!signature) return undefined;
    const [payload, sig] = [dsseEnvelope.payload, signature.sig].map((part) => Buffer.from(part, "base64"));
    return payload && sig && { payload, signature: sig, keyid: signature.keyid };
  } catch {
    return undefined;
  }
}

function bundleOf(payload: Buffer, signature: Buffer, keyid: string): SignedBundle {
  return {
    mediaType: BUNDLE_TYPE,
    verificationMaterial: { publicKey: { hint: keyid } },
    dsseEnvelope: {
      payload: payload.toString("base64"),
      payloadType: STATEMENT_TYPE,
      signatures: [{ keyid, sig: signature.toString("base64") }],
    },
  };
}
