/** The parts of an upstream that its many spellings share. */
export interface UpstreamPlace {
  readonly scheme: "ssh" | "https" | "http" | "file";
  readonly user: string | null;
  readonly host: string;
  readonly port: number | null;
  /** Without a slash before it and without `.git`. */
  readonly path: string;
}

const SHORT = /^(?:([A-Za-z0-9._-]+)@)?([A-Za-z0-9.-]+):(?!\/\/)(\S+)$/;

/** Undefined for what is no upstream. */
export function readUpstream(url: string): UpstreamPlace | undefined {
  if (!/^[a-z]+:\/\//i.test(url)) {
    const [, user, host, path] = SHORT.exec(url) ?? [];
    if (host === undefined || path === undefined) return undefined;
    return { scheme: "ssh", user: user ?? null, host: host.toLowerCase(), port: null, path: bare(path) };
  }
  if (!URL.canParse(url)) return undefined;
  const { protocol, username, hostname, port, pathname } = new URL(url);
  const scheme = protocol.slice(0, -1);
  if (scheme !== "ssh" && scheme !== "https" && scheme !== "http" && scheme !== "file") return undefined;
  return {
    scheme,
    user: username === "" ? null : decodeURIComponent(username),
    host: hostname.toLowerCase(),
    port: port === "" ? null : Number(port),
    path: bare(pathname),
  };
}

const bare = (path: string): string =>
  path
    .replace(/^\/+/, "")
    .replace(/\/+$/, "")
    .replace(/\.git$/, "");

/**
 * All beginnings of URLs that mean a repository, for git's `insteadOf`. Without `.git`, so that what is longer keeps its own end and is another name at the
 * door.
 */
export function spellingsOf(url: string): string[] {
  const place = readUpstream(url);
  const own = url.replace(/\/+$/, "").replace(/\.git$/, "");
  if (!place) return [own];
  const { scheme, user, host, port, path } = place;
  if (scheme === "file") return [own, `/${path}`];
  const users = [...new Set([user, "git"].filter((one) => one !== null))];
  // Some write the port that is meant without one.
  const usual = { ssh: 22, https: 443, http: 80 } as const;
  const spelled = (kind: keyof typeof usual, before = "") => {
    const ports = new Set([null, usual[kind], ...(kind === scheme ? [port] : [])]);
    return [...ports].map((one) => `${kind}://${before}${host}${one === null ? "" : `:${one}`}/${path}`);
  };
  const ssh = [
    ...spelled("ssh"),
    ...users.flatMap((one) => [...spelled("ssh", `${one}@`), `${one}@${host}:${path}`, `${one}@${host}:/${path}`]),
  ];
  return [...new Set([own, ...ssh, ...spelled("https"), ...spelled("http"), `git://${host}/${path}`])];
}
