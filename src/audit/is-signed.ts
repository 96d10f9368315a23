import { type KeyObject, verify } from "node:crypto";

export const isSigned = (data: Uint8Array, signature: Uint8Array, publicKey: KeyObject): boolean =>
  publicKey.asymmetricKeyType === "ed25519" && verify(null, data, publicKey, signature);
