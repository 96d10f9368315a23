import { stringify } from "yaml";
import type { EgressLearned } from "../../model/egress-seen.ts";
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
  const passed = (egress.routes ?? []).flatMap((route) => entry(route, "    "));
  const rest = denied.flatMap((route) => [
    `    # denied ${countOf(route.host)?.denied ?? 0} times; take the marks away to let it pass:`,
    ...entry(route, "    # "),
  ]);
  return [
    `# ${requests} requests to ${hosts.length} hosts were seen, ${refused} of them denied`,
    "egress:",
    "  log: all",
    passed.length === 0 ? "  routes: [] # nothing passed" : "  routes:",
    ...passed,
    ...rest,
  ].join("\n");
}

const entry = (route: Route, before: string): string[] =>
  stringify([route], { lineWidth: 0 })
    .trimEnd()
    .split("\n")
    .map((line) => `${before}${escapeName(line)}`);
