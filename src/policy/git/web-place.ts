import { DEFAULT_PORTS } from "../../model/default-ports.ts";
import type { GateRoute } from "../../model/egress-order.ts";
import type { GitOrder, WebPlace } from "../../model/git-order.ts";
import { readUpstream } from "./upstream-urls.ts";

/** An address is no name that a sandbox could ask for; its ports stay free in the sandbox. */
const ADDRESS = /^[\d.]+$|:/;
/** What a request of git's own asks for, behind the path of a repository. */
const ASKED = /^(?:\.git)?(\/(?:info\/refs|git-upload-pack|git-receive-pack|info\/lfs\/[^?]*)(?:\?.*)?)$/;

/** Where the web has an upstream, also one that is reached over ssh; null for a file. */
export function webPlaceOf(url: string): WebPlace | null {
  const place = readUpstream(url);
  if (!place || place.scheme === "file") return null;
  const own = place.scheme === "ssh" || place.port === null ? [] : [place.port];
  return { host: place.host, ports: [...new Set([...own, ...DEFAULT_PORTS])], path: place.path };
}

/** What a request for a repository asks of it; undefined when it is for something else. */
export function askedOf(
  { host, ports, path }: WebPlace,
  at: { host: string; port: number },
  target: string,
): string | undefined {
  if (at.host !== host || !ports.includes(at.port) || !target.startsWith(`/${path}`)) return undefined;
  return ASKED.exec(target.slice(path.length + 1))?.[1];
}

/** Routes by which a sandbox finds the hosts of its repositories. They let nothing pass: what is for a repository is served before any route is asked. */
export function gitRoutes({ repos }: GitOrder): GateRoute[] {
  return repos.flatMap(({ web }) =>
    web === null || ADDRESS.test(web.host)
      ? []
      : [
          {
            host: web.host,
            ports: web.ports,
            connect: null,
            ca: null,
            tls: "intercept",
            matches: [],
            credentials: [],
            pass: [],
            dlp: { outbound_detectors: null, inbound_detectors: [], outbound_on_match: "block" },
            provider: null,
          } satisfies GateRoute,
        ],
  );
}
