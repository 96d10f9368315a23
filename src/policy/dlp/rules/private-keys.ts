import { KEY_TEXT } from "../key-rest.ts";
import { BASE64, BORDER, assigned, prefixed, sample, shaped } from "./rule-shapes.ts";

const DASHES = "-".repeat(5);
/** Lines of base64, up to the dashes of the last one. */
const BODY = `(?:(?!${DASHES})[${KEY_TEXT}]){64,1900}`;

const pem = (id: string, description: string, kind: string, names: readonly string[]) =>
  shaped({
    id,
    description,
    detector: "private_keys",
    // The name alone: dashes are in every underlined title.
    keywords: names.map((name) => `BEGIN ${name}`),
    before: 5,
    ahead: 2048,
    runsOn: true,
    pattern: new RegExp(`${DASHES}BEGIN ${kind}${DASHES}(?<value>${BODY})`),
    accept: (value) => /[A-Za-z0-9+/]{40}/.test(value.replaceAll(/\\[nrt]|\s/g, "")),
    hit: () => `${DASHES}BEGIN ${names[0] ?? ""}${DASHES}\n${sample(BASE64, 64)}\n${sample(BASE64, 64)}\n`,
    miss: () => `${DASHES}BEGIN ${names[0] ?? ""}${DASHES} is how such a file begins`,
  });

export const PRIVATE_KEY_RULES = [
  pem("private-key", "Private key (PKCS #8)", "PRIVATE KEY", ["PRIVATE KEY"]),
  pem("rsa-private-key", "RSA private key", "RSA PRIVATE KEY", ["RSA PRIVATE KEY"]),
  pem("ec-private-key", "EC private key", "EC PRIVATE KEY", ["EC PRIVATE KEY"]),
  pem("dsa-private-key", "DSA private key", "DSA PRIVATE KEY", ["DSA PRIVATE KEY"]),
  pem("openssh-private-key", "OpenSSH private key", "OPENSSH PRIVATE KEY", ["OPENSSH PRIVATE KEY"]),
  pem("ssh2-private-key", "SSH2 private key", "SSH2 ENCRYPTED PRIVATE KEY", ["SSH2 ENCRYPTED PRIVATE KEY"]),
  pem("encrypted-private-key", "Private key with a passphrase", "ENCRYPTED PRIVATE KEY", ["ENCRYPTED PRIVATE KEY"]),
  pem("pgp-private-key", "PGP private key", "PGP PRIVATE KEY BLOCK", ["PGP PRIVATE KEY BLOCK"]),
  shaped({
    id: "putty-private-key",
    description: "PuTTY private key",
    detector: "private_keys",
    keywords: ["Private-Lines:"],
    pattern: /Private-Lines: [0-9]{1,3}(?:\s|\\[nr]){1,4}(?<value>[A-Za-z0-9+/=\s\\]{40,1900})/,
    hit: () => `Private-Lines: 1\n${sample(BASE64, 64)}`,
    miss: () => "Private-Lines: 8 is a line of it",
  }),
  prefixed({
    id: "age-secret-key",
    description: "age secret key",
    detector: "private_keys",
    prefix: ["AGE-SECRET-KEY-1", "AGE-SECRET-KEY-PQ-1"],
    of: "A-Z0-9",
    length: [50, 80],
  }),
  prefixed({
    id: "nostr-secret-key",
    description: "Nostr secret key",
    detector: "private_keys",
    prefix: "nsec1",
    of: "a-z0-9",
    length: 58,
    border: true,
  }),
  shaped({
    id: "minisign-secret-key",
    description: "minisign or signify secret key",
    detector: "private_keys",
    keywords: ["secret key"],
    before: 40,
    pattern:
      /untrusted comment: [^\n\\]{0,30}secret key[^\n\\]{0,60}(?:\\n|\r?\n)(?<value>[A-Za-z0-9+/]{80,240}={0,2})/,
    hit: () => `untrusted comment: minisign encrypted secret key\n${sample(BASE64, 200)}`,
    miss: () => "untrusted comment: minisign encrypted secret key\n",
  }),
  shaped({
    id: "wireguard-private-key",
    description: "WireGuard private key",
    detector: "private_keys",
    keywords: ["PrivateKey", "PresharedKey"],
    pattern: /(?:PrivateKey|PresharedKey)\s{0,3}=\s{0,3}(?<value>[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)/,
    hit: () => `PrivateKey = ${sample(BASE64, 42)}A=`,
    miss: () => `PublicKey = ${sample(BASE64, 42)}A=`,
  }),
  shaped({
    id: "jwk-private-key",
    description: "Private part of a JSON Web Key",
    detector: "private_keys",
    keywords: ['"kty"', '\\"kty\\"'],
    before: 600,
    // Each of them tells the whole key.
    pattern: /\\?"(?:d|p|q|d[pq]|qi)\\?"\s{0,3}:\s{0,3}\\?"(?<value>[A-Za-z0-9_-]{40,700})\\?"/,
    hit: () => `{"kty":"EC","crv":"P-256","d":"${sample("A-Za-z0-9_-", 43)}"}`,
    miss: () => `{"kty":"EC","crv":"P-256","x":"${sample("A-Za-z0-9_-", 43)}"}`,
  }),
  shaped({
    id: "jwt",
    description: "JSON Web Token",
    detector: "tokens",
    // The longer ones are looked for in more encodings.
    keywords: ["eyJ", "eyJhbGciOi", "eyJ0eXAiOi", "eyJraWQiOi"],
    pattern: new RegExp(`${BORDER}eyJ[A-Za-z0-9_-]{14,400}\\.eyJ[A-Za-z0-9_-]{14,1400}\\.[A-Za-z0-9_-]{20,700}`),
    hit: () =>
      [
        { alg: "HS256", typ: "JWT" },
        { sub: "1234567890", iat: 1 },
      ]
        .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
        .concat(sample("A-Za-z0-9_-", 43))
        .join("."),
    miss: () =>
      `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from('{"sub":"1234567890"}').toString("base64url")}.`,
  }),
  assigned({
    id: "kubernetes-client-key",
    description: "Client key of a kubeconfig",
    detector: "private_keys",
    names: ["client_key_data"],
    of: "A-Za-z0-9+/=",
    length: [100, 1900],
  }),
];
