import type { Egress } from "../model/egress.ts";
import type { EgressCheck } from "../model/egress-seen.ts";
import type { Detector } from "../policy/dlp/detector.ts";
import { isViolation, OUTBOUND_DETECTORS } from "../policy/dlp/finding.ts";
import { readAbsolute } from "../policy/egress/absolute-url.ts";
import { decideRequest } from "../policy/egress/decide-request.ts";
import { plainCredential } from "../policy/egress/plain-credential.ts";
import { authsOf, credentialName } from "../policy/egress/gate-routes.ts";
import { isAmbiguous, readTarget } from "../policy/egress/request-target.ts";
import { RouteTable } from "../policy/egress/route-table.ts";

/** What a gate with that policy would say to a request without a body and without headers. It asks what the gate asks, in the same order. */
export function checkEgress(egress: Egress, detector: Detector, method: string, url: string): EgressCheck {
  const routes = egress.routes ?? [];
  const read = readAbsolute(asSent(url));
  const blank = { method, host: null, port: null, path: null, rule: null, route_index: null };
  if (!read)
    return {
      ...blank,
      allowed: false,
      code: "EGRESS_DENIED",
      reason: whyNoRequest(url),
      injects: [],
      is_tunnel: false,
    };
  const { place, sent } = read;
  const table = new RouteTable(routes);
  const found = table.find(place.host, place.port);
  const target = readTarget(sent);
  const path = isAmbiguous(target) ? (sent.split("?")[0] ?? "") : target.path;
  const isTunnel = found?.route.tls === "passthrough";
  const facts = isAmbiguous(target)
    ? { problem: `its path can be read in several ways: ${target.ambiguous}` }
    : { method, target, header: () => undefined };
  const asked = {
    ...blank,
    host: place.host,
    port: place.port,
    path,
    rule: found?.route.host ?? null,
    route_index: found ? routes.indexOf(found.route) : null,
    is_tunnel: isTunnel,
    injects: found ? authsOf(found.route).map(credentialName) : [],
  };
  // What is in a tunnel the gate does not see: its host and port decide.
  const refused = isTunnel ? undefined : decideRequest((host) => table.names(host), found, place, facts);
  const reason = refused?.(path) ?? (found && plainCredential(place, found.route, authsOf(found.route)));
  if (reason !== undefined) return { ...asked, allowed: false, code: "EGRESS_DENIED", reason, injects: [] };
  const leak = found && !isTunnel ? leakIn(detector, found.route, place.host, sent) : undefined;
  return leak === undefined
    ? { ...asked, allowed: true, code: null, reason: null }
    : { ...asked, allowed: false, code: "DLP_BLOCKED", reason: leak, injects: [] };
}

/** No client sends a fragment, and a WebSocket begins as a request. */
const asSent = (url: string): string => url.replace(/#.*$/s, "").replace(/^ws(s?):/i, "http$1:");

function whyNoRequest(url: string): string {
  const [, scheme = "", user, port] =
    /^([a-z]+):\/\/([^/?#]*@)?(?:\[[^\]]*\]|[^/?#:]*)(?::([^/?#]*))?/i.exec(url) ?? [];
  if (!/^(?:https?|wss?)$/i.test(scheme)) return "The gate takes http:// and https://, and WebSockets over them";
  if (user !== undefined) return "A URL is checked without a user and a password: a client sends these as a header";
  if (port !== undefined && !(/^\d+$/.test(port) && Number(port) > 0 && Number(port) < 65_536))
    return "A port is a number from 1 to 65535";
  return "The gate takes requests to names of hosts; localhost and addresses are no hosts";
}

type Route = NonNullable<Egress["routes"]>[number];

function leakIn(
  detector: Detector,
  { dlp, secrets = [], auth }: Route,
  host: string,
  sent: string,
): string | undefined {
  if (dlp?.outbound_on_match === "redact") return undefined; // it goes on, overwritten
  const detectors = OUTBOUND_DETECTORS.filter((name) => dlp?.outbound_detectors?.includes(name));
  if (dlp?.outbound_detectors && detectors.length === 0) return undefined;
  const pass = [...secrets, ...authsOf({ auth }).flatMap(({ token_ref: name }) => name ?? [])];
  const scan = detector.scope({ ...(dlp?.outbound_detectors && { detectors }), pass });
  const [path = "", query = ""] = sent.split(/\?(.*)/s);
  const found = scan.head({ host, path, query, headers: [] }).filter(isViolation);
  if (found.length === 0) return undefined;
  const rules = [...new Set(found.map(({ rule, place }) => `${rule} in the ${place}`))];
  return `The request has something in it that must not leave (${rules.join(", ")})`;
}
