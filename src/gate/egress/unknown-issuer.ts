import { errnoOf } from "../../base/errors.ts";
import { UpstreamFault } from "./connecting.ts";

/** As OpenSSL names it that nobody who is trusted has signed a certificate. */
const CODES: ReadonlySet<string> = new Set([
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

const NOT_KNOWN = "Where the host's own network signs certificates, the operator names its authority as egress.ca";
const HINTS = {
  /** Of a route with an authority of its own. */
  route: "The operator can correct the ca of this route: it alone is trusted for this host",
  configuration: `${NOT_KNOWN} in the configuration, or as ca of this route`,
  proxy: `${NOT_KNOWN} in the configuration`,
} as const;

/** The fault of a handshake with a certificate whose issuer is not known here; undefined for any other error. `trust` says who decides which issuers are. */
export function unknownIssuer(what: string, error: unknown, trust: keyof typeof HINTS): UpstreamFault | undefined {
  const code = errnoOf(error);
  if (code === undefined || !CODES.has(code)) return undefined;
  return new UpstreamFault(`${what}: the issuer of its certificate is not trusted (${code})`, HINTS[trust]);
}
