import { RE2JS } from "re2js";
import { DEFAULT_PORTS } from "../../model/default-ports.ts";
import type { PathRule, Route, RouteMatch } from "../../model/egress.ts";
import type { ProposedRoute } from "../../model/proposal.ts";
import { authsOf, credentialName } from "../egress/gate-routes.ts";
import { coversPattern } from "./merge-routes.ts";

/** Paths that have nothing in common: a pattern that fits them all bounds nothing. */
const PROBES = ["/", "/q7", "/zz/9/x.y", "/a-b_c/~d/e%20f"];

/** What a proposed route lets out, given those that decide for its host now. */
export function addedRoute(asked: ProposedRoute, routes: readonly Route[]): string {
  const known =
    routes.find(({ host }) => host === asked.host) ?? routes.find(({ host }) => coversPattern(host, asked.host));
  const { host, ports, matches } = asked;
  const added = matches ? matches.map(matchWords).join(", or ") : "every request, whatever its method and path";
  // SECURITY: a route has one list of ports and one of matches, so what is asked for at one port passes at all of them, with the credential (G-180)
  const all = [...new Set([...(known ? (known.ports ?? DEFAULT_PORTS) : []), ...(ports ?? DEFAULT_PORTS)])];
  const sentence = `It lets out to ${hostWords(host)} at port ${words(all.map(String), "and")}: ${added}.`;
  return [sentence, ...(known ? keptWords(known, asked) : [])].join(" ");
}

function hostWords(host: string): string {
  return host.startsWith("*.") ? `every host below ${host.slice(2)}, at any depth` : host;
}

/** What goes along without being asked for. */
function keptWords(known: Route, asked: ProposedRoute): string[] {
  const { matches, tls, connect } = known;
  const names = authsOf(known).map(credentialName);
  const more = (asked.ports ?? DEFAULT_PORTS).filter((port) => !(known.ports ?? DEFAULT_PORTS).includes(port));
  return [
    ...(names.length > 0 ? [`The gate puts the credential ${words(names, "and")} into these requests.`] : []),
    ...(connect !== undefined ? [`They go to ${connect}, as the route for ${known.host} says.`] : []),
    ...((known.secrets ?? []).length > 0 ? [`The value of ${words(known.secrets ?? [], "and")} may go along.`] : []),
    ...(tls === "passthrough" ? ["It is a tunnel: the gate sees nothing of what goes through it."] : []),
    ...(asked.matches && more.length > 0
      ? [
          `What the route for ${known.host} lets out already, it lets out at port ${words(more.map(String), "and")} too.`,
        ]
      : []),
    ...(!matches && tls !== "passthrough" ? [`The route for ${known.host} lets every request out already.`] : []),
  ];
}

function matchWords({ methods, paths, headers }: RouteMatch): string {
  const parts = [
    `${methods ? words(methods, "or") : "any method"} with ${paths ? words(paths.map(pathWords), "or") : "any path"}`,
    ...(headers ?? []).map(
      ({ name, value, type = "exact" }) =>
        `the header ${name} ${type === "exact" ? "is" : type === "prefix" ? "begins with" : "fits the pattern"} ${quoted(value)}`,
    ),
  ];
  return parts.join(" where ");
}

function pathWords({ type, value }: PathRule): string {
  if (type === "exact") return `the path ${quoted(value)}`;
  if (type === "prefix") {
    if (value === "/") return "any path";
    return value.endsWith("/")
      ? `a path that begins with ${quoted(value)}`
      : `the path ${quoted(value)} and all below it`;
  }
  return patternWords(value);
}

/** A pattern has to fit the whole path: what stands before its first sign with a meaning is in every path that it fits. */
function patternWords(pattern: string): string {
  const fits = compiled(pattern);
  if (PROBES.every(fits)) return `any path at all, since the pattern ${quoted(pattern)} fits everything`;
  const start = fixedStart(pattern);
  const bound =
    start === "" || start === "/"
      ? `a path that fits the pattern ${quoted(pattern)}, wherever it begins`
      : `a path that begins with ${quoted(start)} and fits the pattern ${quoted(pattern)}`;
  return /(?<!\\)\.(?![*+?{])/.test(pattern) ? `${bound} (a bare dot in it stands for any character)` : bound;
}

function compiled(pattern: string): (path: string) => boolean {
  try {
    const made = RE2JS.compile(pattern);
    return (path) => made.matches(path);
  } catch {
    return () => false; // it is refused before it can be approved
  }
}

/** What every text begins with that fits the pattern, as far as that is plain to see. */
function fixedStart(pattern: string): string {
  if (pattern.includes("|") || pattern.includes("(?")) return "";
  const plain = pattern.replace(/^\^/, "");
  let start = "";
  for (let at = 0; at < plain.length; at++) {
    let one = plain.charAt(at);
    if (one === "\\") {
      one = plain.charAt(++at);
      if (/[\w]/.test(one)) break;
    } else if (/[.*+?()[\]{}$^]/.test(one)) break;
    // One that may be missing, or be there several times, is no part of it.
    if (/[*?{]/.test(plain.charAt(at + 1))) break;
    start += one;
  }
  return start;
}

const quoted = (text: string): string => JSON.stringify(text);

const words = (list: readonly string[], last: "and" | "or"): string =>
  list.length <= 1 ? list.join("") : `${list.slice(0, -1).join(", ")} ${last} ${list.at(-1) ?? ""}`;
