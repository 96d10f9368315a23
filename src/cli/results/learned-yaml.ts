import { stringify } from "yaml";
import type { EgressLearned } from "../../model/egress-seen.ts";
import { DEFAULT_PORTS } from "../../model/default-ports.ts";
import { escapeName } from "../output/escape.ts";

type Route = NonNullable<EgressLearned["egress"]["routes"]>[number];

/** A policy to paste. What was denied stands in it as comments: it is for somebody to judge, and a name that a sandbox chose is no part of any policy by itself. */
export function learnedYaml({
  egress,
  denied,
  hosts,
  request_count: requests,
  denied_count: refused,
}: EgressLearned): string {
  const countOf = (host: string) => hosts.find((one) => one.host === host);
  const refusal = (host: string) => {
    const times = countOf(host)?.denied ?? 0;
    return `denied ${times === 1 ? "once" : `${times} times`}; take the marks away to let it pass`;
  };
  const listed = new Map((egress.routes ?? []).map((route) => [route.host, route]));
  const passed = [...listed.values()].flatMap((route) => {
    const more = denied.find(({ host }) => host === route.host);
    return [...entry(route, "    "), ...(more && route.matches ? addition(route, more, refusal(route.host)) : [])];
  });
  const rest = denied
    .filter(({ host }) => listed.get(host)?.matches === undefined)
    .flatMap((route) => [`    # ${refusal(route.host)}:`, ...entry(route, "    # ")]);
  return [
    `# Seen: ${counted(requests, "request")} to ${counted(hosts.length, "host")}, ${refused} denied`,
    "egress:",
    "  log: all",
    passed.length === 0 ? "  routes: [] # nothing passed" : "  routes:",
    ...passed,
    ...rest,
  ].join("\n");
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

/** A host is there once: what was denied of one that is listed is more for its own `matches`, which come last in a route. */
function addition({ ports }: Route, { matches = [], ports: asked = [] }: Route, refusal: string): string[] {
  const missing = asked.filter((port) => !(ports ?? DEFAULT_PORTS).includes(port));
  const also = missing.length === 0 ? "" : `, and add to its ports: ${missing.join(", ")}`;
  return [`        # ${refusal}${also}:`, ...(matches.length === 0 ? [] : lines(matches, "        # "))];
}

const entry = (route: Route, before: string): string[] => lines([route], before);

const lines = (list: readonly object[], before: string): string[] =>
  stringify(list, { lineWidth: 0 })
    .trimEnd()
    .split("\n")
    .map((line) => `${before}${escapeName(line)}`);
