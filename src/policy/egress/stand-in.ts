import { randomBytes, randomInt } from "node:crypto";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const DIGITS = "0123456789";
const ALPHABETS = {
  hex: `${DIGITS}abcdef`,
  alphanumeric: `${LETTERS}${LETTERS.toUpperCase()}${DIGITS}`,
  urlSafe: `${LETTERS}${LETTERS.toUpperCase()}${DIGITS}-_`,
} as const;

/**
 * Words that tokens of a kind begin with, the longest first: programs look at them before they use a token. What follows is random, in the characters that such tokens have. A
 * word that is not listed may be a part of the secret, so it is not taken over.
 */
const KINDS: readonly (readonly [prefix: string, alphabet: keyof typeof ALPHABETS])[] = [
  ["sk-ant-api03-", "urlSafe"],
  ["sk-ant-admin01-", "urlSafe"],
  ["sk-ant-oat01-", "urlSafe"],
  ["sk-ant-", "urlSafe"],
  ["sk-svcacct-", "urlSafe"],
  ["sk-admin-", "urlSafe"],
  ["sk-proj-", "urlSafe"],
  ["sk-or-v1-", "hex"],
  ["sk_live_", "alphanumeric"],
  ["sk_test_", "alphanumeric"],
  ["sk-", "alphanumeric"],
  ["github_pat_", "alphanumeric"],
  ["ghp_", "alphanumeric"],
  ["gho_", "alphanumeric"],
  ["ghu_", "alphanumeric"],
  ["ghs_", "alphanumeric"],
  ["glpat-", "urlSafe"],
  ["npm_", "alphanumeric"],
  ["pypi-", "urlSafe"],
  ["hf_", "alphanumeric"],
  ["gsk_", "alphanumeric"],
  ["xai-", "alphanumeric"],
  ["AIza", "urlSafe"],
  ["ya29.", "urlSafe"],
  ["xoxb-", "alphanumeric"],
  ["xoxp-", "alphanumeric"],
  ["dop_v1_", "hex"],
  ["nvapi-", "urlSafe"],
  ["pplx-", "alphanumeric"],
  ["lin_api_", "alphanumeric"],
  ["AKIA", "alphanumeric"],
];
/** The length of a stand-in tells of the token's no more than this. */
const LENGTHS = [24, 32, 40, 48, 64, 96, 128, 192];
const JWT = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;

/** What the sandbox has in the place of a token: random, of the kind and about the length of the real one, and good for nothing. */
export function makeStandIn(token: string): string {
  if (JWT.test(token)) return standInJwt();
  const [prefix, alphabet] = KINDS.find(([word]) => token.startsWith(word)) ?? ["", alphabetOf(token)];
  const length = LENGTHS.find((one) => one >= token.length) ?? LENGTHS.at(-1) ?? 64;
  return prefix + randomText(ALPHABETS[alphabet], Math.max(length - prefix.length, 20));
}

const alphabetOf = (token: string): keyof typeof ALPHABETS => (/^[0-9a-f]+$/.test(token) ? "hex" : "alphanumeric");

function randomText(alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");
}

/** Programs read when one ends before they use it. */
function standInJwt(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { sub: randomBytes(12).toString("hex"), jti: randomBytes(16).toString("hex"), exp: 4_102_444_800 };
  return `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}.${randomBytes(32).toString("base64url")}`;
}
