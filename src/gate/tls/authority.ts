import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { type SecureContext, createSecureContext } from "node:tls";
import { certificate } from "./certificate.ts";

const HOUR_MS = 3_600_000;
/** A sandbox, or a machine that was saved, may have a clock that is behind. */
const SLACK_MS = 26 * HOUR_MS;
const AUTHORITY_MS = 3 * 366 * 24 * HOUR_MS;
const LEAF_MS = 50 * HOUR_MS;
/** One that has less left is replaced by a new one. */
const RENEW_MS = 25 * HOUR_MS;
const MAX_LEAVES = 512;

/** What a gate must not lose when it is killed: the sandbox trusts this one. */
export interface AuthorityKeys {
  readonly certificate: string;
  readonly private_key: string;
}

/** A new authority, for one gate alone. Its key never leaves the gate and its keeper's memory. */
export function newAuthority(subject: string, now = Date.now()): AuthorityKeys {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    certificate: certificate({
      subject,
      publicKey,
      issuer: { name: subject, publicKey, privateKey },
      notBefore: new Date(now - SLACK_MS),
      notAfter: new Date(now + AUTHORITY_MS),
    }),
    private_key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

interface Leaf {
  readonly context: SecureContext;
  readonly certificate: string;
  readonly notBefore: number;
  readonly notAfter: number;
}

/** Certificates for the hosts that the gate answers for, made when they are first asked for, and anew before they end. */
export class Authority {
  readonly #issuer: { name: string; publicKey: KeyObject; privateKey: KeyObject };
  readonly #certificate: string;
  /** One for all leaves: each is for one host, and all are this process's. */
  readonly #keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  readonly #keyPem = this.#keys.privateKey.export({ type: "pkcs8", format: "pem" });
  readonly #leaves = new Map<string, Leaf>();

  constructor(subject: string, keys: AuthorityKeys) {
    const privateKey = createPrivateKey(keys.private_key);
    this.#issuer = { name: subject, publicKey: createPublicKey(privateKey), privateKey };
    this.#certificate = keys.certificate;
  }

  /** What a server of that name shows, for TLS. */
  context(host: string): SecureContext {
    return this.#leaf(host).context;
  }

  /** The leaf and the authority, in PEM. */
  chain(host: string): string {
    return this.#leaf(host).certificate + this.#certificate;
  }

  /** The same for a server of another program: a key and a chain, in PEM. */
  files(host: string): { key: string; chain: string } {
    return { key: this.#keyPem.toString(), chain: this.chain(host) };
  }

  #leaf(host: string): Leaf {
    const now = Date.now();
    const known = this.#leaves.get(host);
    // The clock may have been set, in either direction.
    if (known && known.notBefore < now && known.notAfter - now > RENEW_MS) return known;
    // SECURITY: a sandbox that asks for names without end does not fill the gate's memory (G-28)
    const [oldest] = this.#leaves.keys();
    if (!known && this.#leaves.size >= MAX_LEAVES && oldest !== undefined) this.#leaves.delete(oldest);
    const leaf = this.#make(host, now);
    this.#leaves.set(host, leaf);
    return leaf;
  }

  #make(host: string, now: number): Leaf {
    const notBefore = now - SLACK_MS;
    const notAfter = now + LEAF_MS;
    const pem = certificate({
      subject: host,
      publicKey: this.#keys.publicKey,
      issuer: this.#issuer,
      notBefore: new Date(notBefore),
      notAfter: new Date(notAfter),
      hosts: [host],
    });
    const context = createSecureContext({ key: this.#keyPem, cert: pem + this.#certificate, minVersion: "TLSv1.2" });
    return { context, certificate: pem, notBefore, notAfter };
  }
}
