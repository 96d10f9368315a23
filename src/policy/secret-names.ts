/** Names of files that customarily hold secrets, in lower case. `docs/configuration.md` has the same list for people. */
const FILES: readonly RegExp[] = [
  // settings with secrets in them
  /^\.env/,
  /\.env$/,
  /^(credentials|secrets)(\.(json|ya?ml|toml|csv|ini|enc))?$/,
  /^service[-_]account.*\.json$/,
  /^auth\.json$/,
  /\.(tfstate|tfvars)(\..*)?$/,
  // keys, and what keeps them
  /\.(pem|key|p8|p12|pfx|jks|keystore|kdbx|ppk|gpg)$/,
  /^id_[^.]*$/,
  /^id_(rsa|dsa|ecdsa|ed25519)/,
  // how programs sign in
  /^\.(npmrc|yarnrc(\.yml)?|pypirc|gem|netrc|git-credentials|pgpass|my\.cnf|htpasswd|s3cfg|boto)$/,
  /^\.(dockercfg|dockerconfigjson|vault-token|terraformrc)$/,
  /^(_netrc|kubeconfig|terraform\.rc)$/,
];

/** Folders of which every file counts as one. */
const FOLDERS: ReadonlySet<string> = new Set([".ssh", ".gnupg", ".aws", ".azure", ".gcloud", ".kube", ".docker"]);

/** Lists of public certificates, which programs need to find where they put them. */
const PUBLIC: ReadonlySet<string> = new Set(["cacert.pem"]);

/** Whether a file is likely to hold a secret, by its own name and those of the folders above it. */
export function isSecretPath(path: string): boolean {
  const parts = path.toLowerCase().split("/");
  return isSecretFile(parts.at(-1) ?? "") || parts.slice(0, -1).some((part) => FOLDERS.has(part));
}

/** Whether the parts of a glob, without their wildcards, have such a name: `.env*` has one, `config/**` and `.e*` have none. */
export function namesSecrets(parts: readonly string[]): boolean {
  const words = parts.map((part) => part.toLowerCase().replaceAll(/[*?]/g, ""));
  return isSecretFile(words.at(-1) ?? "") || words.some((word) => FOLDERS.has(word));
}

function isSecretFile(name: string): boolean {
  return !PUBLIC.has(name) && FILES.some((pattern) => pattern.test(name));
}
