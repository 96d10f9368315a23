import { constants } from "node:os";
import { posix } from "node:path";
import type { FileFound, GuestFiles } from "../../guest/files.ts";
import { COMMAND_FOLDERS } from "../../model/command-environment.ts";
import { CA_BUNDLE, CA_FILE, JAVA_TRUSTSTORE } from "../../model/egress-environment.ts";
import { FILE_DATABASES } from "../../model/names.ts";
import { javaTruststore } from "./java-truststore.ts";
import { NSS_TOOL } from "./nss-database.ts";
import { certificatesIn } from "./pem.ts";
import { ignoreRefusal, putFile, putFiles, type SystemFile } from "./put-files.ts";

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
/** Resolvers of a sandbox ask the gate, and nobody else. */
const NAME_FILES: Readonly<Record<string, string>> = {
  "etc/resolv.conf": "nameserver 127.0.0.1\n",
  "etc/nsswitch.conf": FILE_DATABASES.map((name) => `${name}: files${name === "hosts" ? " dns" : ""}\n`).join(""),
};

/**
 * Has the tools of a sandbox find the hosts that are listed, and trust what the gate shows for them: those that take a variable's word, and those that look into the
 * system's files. Tells whether NSS's tool may be there, which has a database of its own.
 */
export async function provisionTrust(files: GuestFiles, pem: string): Promise<{ mayHaveNssTool: boolean }> {
  const { path, found, isLink, opensslLeadsThere, mayHaveNssTool } = await lookAround(files);
  const own = found.split(MARK)[0] ?? "";
  const text = `${own}${own === "" || own.endsWith("\n") ? "" : "\n"}${MARK}${pem}`;
  const bundle = Buffer.from(text);
  const trusted = certificatesIn(pem).map((der) => der.toString("base64"));
  const policy = Buffer.from(JSON.stringify({ CACertificates: trusted }));
  const toTrust = (file: string, data: Buffer): SystemFile => ({ path: file, data, mode: 0o444 });
  // An environment may have made these read-only; then the variables remain.
  const toTry = (file: string, data: Buffer): SystemFile => ({ ...toTrust(file, data), isOptional: true });
  await Promise.all([
    putFiles(files, posix.dirname(CA_FILE.slice(1)), [
      toTrust(CA_FILE.slice(1), Buffer.from(pem)),
      toTrust(CA_BUNDLE.slice(1), bundle),
      toTrust(JAVA_TRUSTSTORE.slice(1), javaTruststore(certificatesIn(text))),
    ]),
    putFiles(files, "etc", [
      ...Object.entries(NAME_FILES).map(([file, lines]) => ({ path: file, data: Buffer.from(lines), mode: 0o644 })),
      ...(isLink ? [] : [toTry(path, bundle)]),
      ...BROWSER_POLICIES.map((file) => toTry(file, policy)),
    ]),
    ...(isLink ? [putFile(files, toTry(path, bundle))] : []),
    ...(opensslLeadsThere ? [] : [putFile(files, toTry(OPENSSL_FILE, bundle))]),
  ]);
  return { mayHaveNssTool };
}

interface Surroundings {
  /** The file with what the system trusts, and what is in it. */
  readonly path: string;
  readonly found: string;
  /** Whether it may be a link, behind which the file is. */
  readonly isLink: boolean;
  /** Whether OpenSSL's file is a link to it. */
  readonly opensslLeadsThere: boolean;
  readonly mayHaveNssTool: boolean;
}

/** In one call, where the system's file is where most have it. */
async function lookAround(files: GuestFiles): Promise<Surroundings> {
  const [usual] = SYSTEM_BUNDLES;
  const tools = COMMAND_FOLDERS.map((folder) => ({ path: `${folder.slice(1)}/${NSS_TOOL}`, maxBytes: 0 }));
  const wanted = [{ path: usual, maxBytes: MAX_BUNDLE_BYTES }, { path: OPENSSL_FILE, maxBytes: 0 }, ...tools];
  const seen: FileFound[] = [];
  for await (const one of files.readMany("system", wanted, { shownPath: "/etc/ssl" })) seen.push(one);
  const [bundle, openssl, ...toolsSeen] = seen;
  const content = bundle?.entry && bundle.entry.type === "file" ? bundle.content : undefined;
  const [path, found] = content ? [usual, content.toString("utf8")] : await otherBundle(files);
  const linkTarget = openssl?.entry?.linkTarget ?? null;
  return {
    path,
    found,
    isLink: content === undefined,
    opensslLeadsThere:
      content !== undefined && linkTarget !== null && posix.resolve(`/${OPENSSL_FILE}/..`, linkTarget) === `/${path}`,
    mayHaveNssTool: toolsSeen.some((one) => one.entry !== undefined || !isAbsence(one.errno)),
  };
}

/** Nothing there; or the folder is a link, as /bin is, to one of the others. */
const isAbsence = (errno: number): boolean =>
  [constants.errno.ENOENT, constants.errno.ENOTDIR, constants.errno.ELOOP].includes(errno);

/** Follows links. */
async function otherBundle(files: GuestFiles): Promise<[path: string, pem: string]> {
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
