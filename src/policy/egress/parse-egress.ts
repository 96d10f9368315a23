import { describeIssue } from "../../model/describe-issue.ts";
import { Egress } from "../../model/egress.ts";
import { RouteTable } from "./route-table.ts";

/** The policy as it is used, or what is wrong with it in a clause: `"routes.0.host" is missing`. */
export function parseEgress(value: unknown): { readonly egress: Egress } | { readonly problem: string } {
  const checked = Egress.safeParse(value);
  if (!checked.success) return { problem: describeIssue(Egress, value, checked.error) };
  for (const [index, route] of (checked.data.routes ?? []).entries()) {
    try {
      new RouteTable([route]);
    } catch (error) {
      return { problem: `"routes.${index}.matches" has a pattern that does not compile: ${(error as Error).message}` };
    }
  }
  return { egress: checked.data };
}
