import { isClocheError } from "../../base/errors.ts";
import type { GuestFiles } from "../../guest/files.ts";
import { CA_BUNDLE, CA_FILE, JAVA_TRUSTSTORE } from "../../model/egress-environment.ts";
import { javaTruststore } from "./java-truststore.ts";
import { certificatesIn } from "./pem.ts";

/** Where environments have what they trust, in one file. The first is made where there is none. */
const SYSTEM_BUNDLES = [
  "etc/ssl/certs/ca-certificates.crt",
  "etc/pki/tls/certs/ca-bundle.crt",
  "etc/ssl/cert.pem",
] as const;
const MAX_BUNDLE_BYTES = 4 * 1024 * 1024;
/**
 * What OpenSSL reads when nobody names a file to it. The gate's certificate is not put into the folder of certificates: curl reads that one also when it is told what
 * to trust instead (`--cacert`), and then a request that is looked at would pass for a tunnel.
 */
const OPENSSL_FILE = "usr/lib/ssl/cert.pem";
/** Where browsers look for what the administrator of a machine trusts, beside what they bring along. */
const BROWSER_POLICIES = ["etc/chromium/policies/managed/cloche.json", "etc/opt/chrome/policies/managed/cloche.json"];
/** All after it in a system's own file is the gate's, so that it can be taken out when the gate has another certificate. */
const MARK = "# The egress gate of this workspace\n";

/** Has the tools of a sandbox trust what its gate shows: those that take a variable's word, and those that look into the system's files. */
export async function provisionTrust(files: GuestFiles, pem: string): Promise<void> {
  const write = (path: string, data: string | Buffer) =>
    files.write("system", path, Buffer.from(data), { mode: 0o444 });
  const [path, found] = await systemBundle(files);
  const own = found.split(MARK)[0] ?? "";
  const bundle = `${own}${own === "" || own.endsWith("\n") ? "" : "\n"}${MARK}${pem}`;
  const certificates = certificatesIn(bundle);
  const policy = JSON.stringify({ CACertificates: certificatesIn(pem).map((der) => der.toString("base64")) });
  await Promise.all([
    write(CA_FILE.slice(1), pem),
    write(CA_BUNDLE.slice(1), bundle),
    write(JAVA_TRUSTSTORE.slice(1), javaTruststore(certificates)),
    // An environment may have made these read-only; then the variables remain.
    ...[
      [path, bundle] as const,
      [OPENSSL_FILE, bundle] as const,
      ...BROWSER_POLICIES.map((file) => [file, policy] as const),
    ].map(([file, data]) => write(file, data).catch(ignoreRefusal)),
  ]);
}

function ignoreRefusal(error: unknown): void {
  if (!isClocheError(error) || error.code === "SANDBOX_LOST") throw error;
}

async function systemBundle(files: GuestFiles): Promise<[path: string, pem: string]> {
  for (const path of SYSTEM_BUNDLES) {
    try {
      const { content } = await files.readAll("system", path, { maxBytes: MAX_BUNDLE_BYTES });
      return [path, content.toString("utf8")];
    } catch (error) {
      ignoreRefusal(error);
    }
  }
  return [SYSTEM_BUNDLES[0], ""];
}
