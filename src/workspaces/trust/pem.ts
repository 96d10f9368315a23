const BLOCK = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g;

/** The certificates of a file in PEM, as DER. */
export const certificatesIn = (pem: string): Buffer[] =>
  [...pem.matchAll(BLOCK)].map(([, base64 = ""]) => Buffer.from(base64, "base64"));
