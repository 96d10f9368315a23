import { X509Certificate } from "node:crypto";
import { readPlainFile } from "../base/read-plain-file.ts";
import { whyUnread } from "../base/why-unread.ts";
import type { StoredEgress } from "../contracts/store.ts";
import type { Egress } from "../model/egress.ts";
import { failure } from "../model/error-codes.ts";
import { type TokenState, authsOf } from "../policy/egress/gate-routes.ts";
import { isEgressProblem, parseEgress } from "../policy/egress/parse-egress.ts";
import { makeStandIn } from "../policy/egress/stand-in.ts";

const MAX_AUTHORITY_BYTES = 4 * 1024 * 1024;

/** Throws EGRESS_POLICY_INVALID; `details.path` says where in the policy. */
export function readPolicy(value: unknown): Egress {
  const parsed = parseEgress(value);
  if (!isEgressProblem(parsed)) return parsed.egress;
  throw failure("EGRESS_POLICY_INVALID", `Cannot use the egress policy: ${parsed.problem}`, {
    details: { path: [...parsed.path] },
  });
}

/** A policy as it is kept, once its tokens are known. Stand-ins that there are stay: what runs in the sandbox has them. */
export function keepPolicy(
  policy: Egress,
  tokens: ReadonlyMap<string, TokenState>,
  before: StoredEgress | null = null,
): StoredEgress {
  const variables = (policy.routes ?? []).flatMap(authsOf).flatMap(({ token_ref: name }) => name ?? []);
  const standIns = variables.map((name) => [
    name,
    before?.standIns[name] ?? makeStandIn(tokens.get(name)?.token ?? ""),
  ]);
  return {
    policy,
    // SECURITY: a stand-in that a sandbox has had is guarded on, also when no route takes its token any more (G-56)
    standIns: { ...before?.standIns, ...(Object.fromEntries(standIns) as Record<string, string>) },
    authorities: readAuthorities(policy),
  };
}

/** The routes of a run to its agent's own model stay, before those that are given: without them there is no agent. */
export function withProviderRoutes(policy: Egress, before: StoredEgress | null): Egress {
  const { providers = {}, policy: last } = before ?? {};
  const own = (last?.routes ?? []).filter(({ host }) => Object.hasOwn(providers, host));
  const others = (policy.routes ?? []).filter(({ host }) => !Object.hasOwn(providers, host));
  return own.length === 0 ? policy : { ...policy, routes: [...own, ...others] };
}

function readAuthorities({ routes = [] }: Egress): Record<string, string> {
  const read = routes.flatMap(({ ca }, index) =>
    ca === undefined
      ? []
      : [
          [
            ca,
            readCertificates(ca, (why) =>
              failure(
                "EGRESS_POLICY_INVALID",
                `Cannot use the egress policy: "routes.${index}.ca" is "${ca}": ${why}`,
                {
                  hint: "Name a PEM file that you can read",
                  details: { path: ["routes", index, "ca"] },
                },
              ),
            ),
          ] as const,
        ],
  );
  return Object.fromEntries(read);
}

/** The text of a file with certificates. */
export function readCertificates(file: string, failed: (why: string) => Error): string {
  let text: string;
  try {
    text = readPlainFile(file, MAX_AUTHORITY_BYTES).toString("utf8");
  } catch (error) {
    throw failed(whyUnread(error));
  }
  try {
    new X509Certificate(text);
  } catch {
    throw failed("it has no certificate in PEM");
  }
  return text;
}
