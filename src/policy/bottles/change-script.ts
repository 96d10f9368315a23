/** What an approved change of an environment has. */
export interface EnvironmentChange {
  readonly packages: readonly string[];
  readonly steps: readonly string[];
}

/** Of what was asked for, where either may be left out. */
export const changeOf = ({
  packages = [],
  steps = [],
}: {
  readonly [Key in keyof EnvironmentChange]?: EnvironmentChange[Key] | undefined;
}): EnvironmentChange => ({ packages, steps });

/**
 * Installs packages by what the environment has for that. It runs as root without any capability, so that apt and dpkg are told not to become others and to leave out
 * owners that they cannot give.
 */
const INSTALL = `
if command -v apt-get >/dev/null 2>&1; then
  set -- -o APT::Sandbox::User=root -o Dpkg::Options::=--force-not-root -o Dpkg::Use-Pty=0 -o Acquire::Retries=1 "$@"
  if ! cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -q .; then
    echo "the environment lists no sources of packages: a step can write them and install by itself" >&2
    exit 69
  fi
  mkdir -p /var/lib/apt/lists/partial /var/cache/apt/archives/partial /var/log/apt
  apt-get -q -o APT::Sandbox::User=root -o APT::Update::Error-Mode=any -o Acquire::Retries=1 update
  apt-get -q --yes --no-install-recommends install "$@"
elif command -v apk >/dev/null 2>&1; then
  apk add --no-cache "$@"
elif command -v microdnf >/dev/null 2>&1; then
  microdnf install -y "$@"
elif command -v dnf >/dev/null 2>&1; then
  dnf install -y "$@"
else
  echo "the environment has no package manager that cloche knows: apt-get, apk, dnf" >&2
  exit 69
fi
`;

export const installCommand = (packages: readonly string[]): string[] => [
  "/bin/sh",
  "-ec",
  INSTALL,
  "install",
  ...packages,
];

export const stepCommand = (step: string): string[] => ["/bin/sh", "-ec", step];

/** What a builder's gate and its package manager have left. */
export const CLEAN_COMMAND = [
  "/bin/sh",
  "-c",
  `
rm -rf /var/lib/apt/lists /var/cache/apt /var/log/apt /var/log/dpkg.log /var/cache/apk
rm -f /etc/chromium/policies/managed/cloche.json /etc/opt/chrome/policies/managed/cloche.json
for file in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem /usr/lib/ssl/cert.pem; do
  if [ -f "$file" ] && [ ! -L "$file" ] && grep -q '^# The egress gate of this workspace$' "$file"; then
    sed '/^# The egress gate of this workspace$/,$d' "$file" >/tmp/trusted && rm -f "$file" && cp /tmp/trusted "$file"
  fi
done
exit 0
`,
];

/** The whole tree but for what a wall mounts and what is the agent's own. */
export const PACK_COMMAND = [
  "tar",
  "-C",
  "/",
  ...["proc", "sys", "dev", "tmp", "run", "workspace", "home/agent", "cloche", "var/tmp"].flatMap((path) => [
    "--exclude",
    `./${path}/*`,
  ]),
  "-cf",
  "-",
  ".",
];
