import { canonicalHost } from "../../model/host-name.ts";

/** Where a client thinks that it is: what its connection, or its request line, says. */
export interface Place {
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly port: number;
}

export const SCHEME_PORTS = { http: 80, https: 443 } as const;

/** A place from `http://host:port/path`, and the rest; undefined for anything else. */
export function readAbsolute(url: string): { place: Place; sent: string } | undefined {
  const parts = /^(https?):\/\/([^/?#@\s:]+)(?::(\d{1,5}))?([/?].*)?$/i.exec(url);
  const scheme = parts?.[1]?.toLowerCase();
  const host = canonicalHost(parts?.[2] ?? "");
  if (!parts || host === undefined || (scheme !== "http" && scheme !== "https")) return undefined;
  const port = Number(parts[3] ?? SCHEME_PORTS[scheme]);
  const rest = parts[4] ?? "/";
  return port > 0 && port < 65_536
    ? { place: { scheme, host, port }, sent: rest.startsWith("?") ? `/${rest}` : rest }
    : undefined;
}
