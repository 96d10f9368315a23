import { describeIssue } from "../../model/describe-issue.ts";
import { Egress } from "../../model/egress.ts";
import { issuePath } from "../../model/issue-path.ts";
import { INBOUND_DETECTORS, OUTBOUND_DETECTORS } from "../dlp/finding.ts";
import { RouteTable } from "./route-table.ts";

export interface EgressProblem {
  /** A clause: `"routes.0.host" is missing`. */
  readonly problem: string;
  /** Where in the value it is, as far as there is something: for the line of a file. */
  readonly path: readonly PropertyKey[];
}

/** The policy as it is used, or what is wrong with it. */
export function parseEgress(value: unknown): { readonly egress: Egress } | EgressProblem {
  const checked = Egress.safeParse(value);
  if (!checked.success) return { problem: describeIssue(Egress, value, checked.error), path: issuePath(checked.error) };
  for (const [index, route] of (checked.data.routes ?? []).entries()) {
    const problem = patternProblem(route, index) ?? detectorProblem(route, index);
    if (problem) return problem;
  }
  return { egress: checked.data };
}

export const isEgressProblem = (parsed: ReturnType<typeof parseEgress>): parsed is EgressProblem => "problem" in parsed;

type Route = NonNullable<Egress["routes"]>[number];

function patternProblem(route: Route, index: number): EgressProblem | undefined {
  for (const [at, match] of (route.matches ?? []).entries()) {
    try {
      new RouteTable([{ host: route.host, matches: [match] }]);
    } catch (error) {
      const path = ["routes", index, "matches", at];
      return { problem: `"${path.join(".")}" has a pattern that does not compile: ${(error as Error).message}`, path };
    }
  }
  return undefined;
}

function detectorProblem({ dlp }: Route, index: number): EgressProblem | undefined {
  const known = { outbound_detectors: OUTBOUND_DETECTORS, inbound_detectors: INBOUND_DETECTORS } as const;
  for (const key of ["outbound_detectors", "inbound_detectors"] as const) {
    const names: readonly string[] = known[key];
    const at = (dlp?.[key] ?? []).findIndex((name) => !names.includes(name));
    const path = ["routes", index, "dlp", key, at];
    if (at >= 0) return { problem: `"${path.join(".")}" must be one of ${names.join(", ")}`, path };
  }
  return undefined;
}
