/**
 * What of the host's `/etc` shows in the environment `host`. Everything else of `/etc` does not exist there. An entry is a file, a link
 * or a folder with all below it; `*` at the end of a name stands for any rest of it. Configuration that may hold a credential
 * (git, npm, pip, maven, apt) is not in the list on purpose.
 */
export const ETC_ALLOWLIST: readonly string[] = [
  "alternatives",
  "bash.bashrc",
  "ca-certificates.conf",
  "ca-certificates/extracted",
  "crypto-policies",
  "debian_version",
  "fonts",
  "gai.conf",
  "host.conf",
  "inputrc",
  "java-*",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "locale.alias",
  "locale.conf",
  "localtime",
  "login.defs",
  "magic",
  "magic.mime",
  "mime.types",
  "networks",
  "os-release",
  "perl",
  "pki/ca-trust/extracted",
  "pki/tls/cert.pem",
  "pki/tls/certs",
  "protocols",
  "python3*",
  "rpc",
  "services",
  "shells",
  "ssl/cert.pem",
  "ssl/certs",
  "ssl/openssl.cnf",
  "terminfo",
  "timezone",
  "xattr.conf",
];

/** Never taken, wherever it is and whatever its mode. */
export const SECRET_NAME = /shadow|secret|passw|private|credential|token|\.key$|\.p12$|\.pfx$|\.jks$/i;
export const SECRET_CONTENT = "PRIVATE KEY-----";

/** Folders at the top that a system with merged `/usr` has as links into it. */
export const TOP_LEVEL: readonly string[] = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/** Folders of the host that show through as they are, where there are such. */
export const HOST_FOLDERS: readonly string[] = ["usr", "opt", "nix/store", "gnu/store"];

/** Configuration of npm, git and others for the whole host, which may hold a credential, in folders that show through. */
export const HOST_CONFIGURATION: readonly string[] = ["/usr/etc", "/usr/local/etc"];

const PARTS = ["bin", "games", "include", "lib", "lib32", "lib64", "libexec", "libx32", "sbin", "share", "src"];

/** Folders that accounts of services have as their home, and that every system shares all the same. */
export const SYSTEM_FOLDERS: readonly string[] = [
  ...["", "usr", "usr/local", "opt", ...PARTS],
  ...PARTS.flatMap((part) => [`usr/${part}`, `usr/local/${part}`]),
].map((path) => `/${path}`);
