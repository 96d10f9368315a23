import { EGRESS_PORT } from "./egress-port.ts";

/** In every sandbox with an egress door: what the gate shows, alone and with what the environment trusts. */
export const CA_FILE = "/run/cloche/ca.pem";
export const CA_BUNDLE = "/run/cloche/ca-bundle.pem";
export const JAVA_TRUSTSTORE = "/run/cloche/cacerts.jks";

const PROXY = `http://127.0.0.1:${EGRESS_PORT}`;
const LOCAL = "localhost,127.0.0.1,::1";

/** What makes common tools use the gate and trust it. */
export const EGRESS_ENVIRONMENT: Readonly<Record<string, string>> = {
  HTTP_PROXY: PROXY,
  HTTPS_PROXY: PROXY,
  http_proxy: PROXY,
  https_proxy: PROXY,
  NO_PROXY: LOCAL,
  no_proxy: LOCAL,
  NODE_USE_ENV_PROXY: "1",
  // These add to what a tool trusts …
  NODE_EXTRA_CA_CERTS: CA_FILE,
  DENO_CERT: CA_FILE,
  // … and these take its place.
  SSL_CERT_FILE: CA_BUNDLE,
  REQUESTS_CA_BUNDLE: CA_BUNDLE,
  CURL_CA_BUNDLE: CA_BUNDLE,
  GIT_SSL_CAINFO: CA_BUNDLE,
  PIP_CERT: CA_BUNDLE,
  CARGO_HTTP_CAINFO: CA_BUNDLE,
  AWS_CA_BUNDLE: CA_BUNDLE,
  CODEX_CA_CERTIFICATE: CA_BUNDLE,
  NIX_SSL_CERT_FILE: CA_BUNDLE,
  // No variable names a truststore alone, and a Java that gets options says so at its start.
  JAVA_TOOL_OPTIONS: `-Djavax.net.ssl.trustStore=${JAVA_TRUSTSTORE}`,
};
