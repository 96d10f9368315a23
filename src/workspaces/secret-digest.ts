import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const derive = promisify<string, Buffer, number, { N: number }, Buffer>(scrypt);
/** Some milliseconds: a short value must not be found out by trying, should somebody get hold of the store. */
const COST = { N: 4096 };
const SALT_BYTES = 16;
const DIGEST_BYTES = 32;

/** What the store keeps of a value, to know it again. */
export async function digestSecret(value: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return Buffer.concat([salt, await derive(value, salt, DIGEST_BYTES, COST)]).toString("base64");
}

/** Whether that is the value which the digest was made of. */
export async function isSecretOf(digest: string | undefined, value: string): Promise<boolean> {
  const kept = Buffer.from(digest ?? "", "base64");
  if (kept.length !== SALT_BYTES + DIGEST_BYTES) return false;
  const salt = kept.subarray(0, SALT_BYTES);
  return timingSafeEqual(await derive(value, salt, DIGEST_BYTES, COST), kept.subarray(SALT_BYTES));
}
