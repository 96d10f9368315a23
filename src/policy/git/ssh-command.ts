/** By which name a pinned key is known to ssh, whatever the host is called. */
const ALIAS = "cloche-upstream";

export interface SshPlace {
  readonly user: string | null;
  readonly host: string;
  readonly port: number | null;
  /** As the host is to read it. */
  readonly path: string;
}

/** Where a URL of ssh's leads; undefined for another kind. */
export function readSshUrl(url: string): SshPlace | undefined {
  if (/^ssh:\/\//i.test(url)) {
    const { username, hostname, port, pathname } = new URL(url);
    const path = decodeURIComponent(pathname).replace(/^\/(?=~)/, "");
    return {
      user: username === "" ? null : decodeURIComponent(username),
      host: hostname.replaceAll(/^\[|\]$/g, ""),
      port: port === "" ? null : Number(port),
      path,
    };
  }
  const [, user, host, path] = /^([A-Za-z0-9._-]+)@([A-Za-z0-9.-]+):(?!\/\/)(\S+)$/.exec(url) ?? [];
  if (user === undefined || host === undefined || path === undefined) return undefined;
  return { user, host, port: null, path };
}

/**
 * The words of ssh for one conversation with an upstream: with one key, with one host key, and with nothing of the user's configuration.
 *
 * SECURITY: no trust on first use, no agent, no other key, no forwarding, no shared connection (G-91)
 */
export function sshWords(
  ssh: string,
  place: SshPlace,
  service: "upload-pack" | "receive-pack",
  files: { key: string; knownHosts: string },
): string[] {
  const options: Readonly<Record<string, string>> = {
    BatchMode: "yes",
    StrictHostKeyChecking: "yes",
    UserKnownHostsFile: quoted(files.knownHosts),
    GlobalKnownHostsFile: "/dev/null",
    HostKeyAlias: ALIAS,
    CheckHostIP: "no",
    UpdateHostKeys: "no",
    VerifyHostKeyDNS: "no",
    IdentityFile: quoted(files.key),
    IdentitiesOnly: "yes",
    IdentityAgent: "none",
    PreferredAuthentications: "publickey",
    PasswordAuthentication: "no",
    KbdInteractiveAuthentication: "no",
    ForwardAgent: "no",
    ForwardX11: "no",
    ClearAllForwardings: "yes",
    PermitLocalCommand: "no",
    ControlMaster: "no",
    ControlPath: "none",
    ProxyCommand: "none",
    ConnectTimeout: "15",
    ServerAliveInterval: "15",
    ServerAliveCountMax: "4",
    SendEnv: "GIT_PROTOCOL",
    LogLevel: "INFO",
  };
  return [
    ssh,
    "-F",
    "/dev/null",
    "-T",
    ...Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]),
    ...(place.port === null ? [] : ["-p", String(place.port)]),
    ...(place.user === null ? [] : ["-l", place.user]),
    "--",
    place.host,
    `git-${service} '${place.path.replaceAll("'", "'\\''")}'`,
  ];
}

/** Of ssh's own configuration: a name with a space in it, and `%` stands for itself. */
const quoted = (path: string): string => `"${path.replaceAll("%", "%%")}"`;

export const knownHosts = (keys: readonly { readonly type: string; readonly base64: string }[]): string =>
  keys.map(({ type, base64 }) => `${ALIAS} ${type} ${base64}\n`).join("");
