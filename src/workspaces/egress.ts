import type { ServedGit } from "../contracts/gates.ts";
import type { StoredEgress, StoredWorkspace } from "../contracts/store.ts";
import type { Budget } from "../model/budget.ts";
import type { Egress } from "../model/egress.ts";
import type { EgressOrder, GateRoute, GuardedValue } from "../model/egress-order.ts";
import { failure } from "../model/error-codes.ts";
import { argument, way } from "../model/hint.ts";
import type { NetworkPolicy } from "../model/names.ts";
import { type TokenState, gateRoute, guardedTokens } from "../policy/egress/gate-routes.ts";
import type { Dependencies } from "./dependencies.ts";
import { EGRESS_DOOR, GIT_DOOR, isEgressDoor, superviseDoor } from "./egress-door.ts";
import { keepPolicy, readCertificates, readPolicy } from "./egress-policy.ts";
import { budgetOrder } from "./run-budget.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { getBackend } from "./sandbox.ts";
import type { Secrets } from "./secrets.ts";
import { rootFiles } from "./sandbox-secrets.ts";
import { trustInNss } from "./trust/nss-database.ts";
import { provisionTrust } from "./trust/provision-trust.ts";

/** What a workspace has of a network, as it was asked for. */
export interface NetworkChoice {
  readonly network: Pick<StoredWorkspace, "networkPolicy" | "allowHosts" | "egress" | "doors">;
  /** Of its policy; undefined without one. */
  readonly tokens: ReadonlyMap<string, TokenState> | undefined;
}

/** What was asked for, or is taken over from another workspace. */
export interface AskedNetwork {
  readonly network_policy?: NetworkPolicy | undefined;
  readonly allow_hosts?: string[] | undefined;
  readonly egress?: unknown;
  readonly egress_tokens?: Readonly<Record<string, string>> | undefined;
}

/** Whether a policy lets out to hosts, where any are named. */
export const takesHosts = (policy: NetworkPolicy): boolean =>
  policy === "egress" || policy === "egress+published-ports";

/** Judges what was asked for and gets its tokens, before anything is made. */
export async function chooseNetwork(deps: Dependencies, backend: string, asked: AskedNetwork): Promise<NetworkChoice> {
  const { allow_hosts: allowHosts = [], egress } = asked;
  const { network_policy: networkPolicy = egress === undefined ? "off" : "egress" } = asked;
  requireFitting(networkPolicy, allowHosts, egress !== undefined);
  if (egress === undefined && allowHosts.length === 0)
    return { network: { networkPolicy, allowHosts, egress: null, doors: [] }, tokens: undefined };
  const policy = egress === undefined ? undefined : readPolicy(egress);
  requireGate(deps, backend, networkPolicy);
  const common = { networkPolicy, doors: [EGRESS_DOOR] };
  if (!policy) return { network: { ...common, allowHosts: [...new Set(allowHosts)], egress: null }, tokens: undefined };
  const tokens = await deps.tokens.fetch(policy, asked.egress_tokens ?? {});
  return { network: { ...common, allowHosts: [], egress: keepPolicy(policy, tokens) }, tokens };
}

/** What the bottle of a run lets out. */
export interface RunEgress extends Required<Pick<StoredEgress, "policy" | "standIns" | "providers">> {
  /** By the variables of whoever launches. */
  readonly tokens: Readonly<Record<string, string>>;
  /** Its repositories; null for none. */
  readonly git: RunGit | null;
  /** Null where its agent cannot ask for anything. */
  readonly supervise: { readonly canChangeEnvironment: boolean } | null;
  /** What it may use up. */
  readonly budget: Budget;
}

/** What a run's git door serves; the host's own way out is added here. */
export type RunGit = Omit<ServedGit, "order"> & { readonly order: Omit<ServedGit["order"], "way_out"> };

/** Tells the gate of a run its repositories, for the next order. */
export function giveGit(deps: Dependencies, workspaceId: string, git: RunGit | null): void {
  if (git) deps.gates.giveGit(workspaceId, { ...git, order: { ...git.order, way_out: readWayOut(deps) } });
}

/** The network of a run: a gate always, also one that lets nothing out. */
export async function runNetwork(
  deps: Dependencies,
  backend: string,
  run: RunEgress,
  earlier?: StoredEgress | null,
): Promise<NetworkChoice> {
  const { policy, standIns, providers } = run;
  requireGate(deps, backend, "egress");
  const tokens = await deps.tokens.fetch(policy, run.tokens);
  // What the operator has given, and when it began, is of the run, however often it is taken up.
  const { given = {}, startedAt = deps.clock.now() } = earlier?.budget ?? {};
  const budget = { limits: run.budget, given, startedAt };
  const egress = { ...keepPolicy(policy, tokens), standIns, providers, budget };
  // SECURITY: where nobody is to be asked there is no door to ask at (G-106)
  const doors = [
    EGRESS_DOOR,
    ...(run.git ? [GIT_DOOR] : []),
    ...(run.supervise ? [superviseDoor(run.supervise.canChangeEnvironment)] : []),
  ];
  return { network: { networkPolicy: "egress", allowHosts: [], egress, doors }, tokens };
}

/** A policy that another workspace has, with its tokens as far as they are known. */
export function inheritNetwork(
  deps: Dependencies,
  backend: string,
  networkPolicy: NetworkPolicy,
  { workspaceId, egress }: Pick<StoredWorkspace, "workspaceId" | "egress">,
): NetworkChoice {
  requireGate(deps, backend, networkPolicy);
  const network = { networkPolicy, allowHosts: [], egress, doors: [EGRESS_DOOR] };
  return { network, tokens: deps.tokens.copyOf(workspaceId) };
}

function requireGate(deps: Dependencies, backend: string, networkPolicy: NetworkPolicy): void {
  if (getBackend(deps, backend).capabilities.doors !== true) {
    throw failure("NOT_SUPPORTED", `Backend "${backend}" has no gate for network policy "${networkPolicy}"`);
  }
  readWayOut(deps);
}

function requireFitting(networkPolicy: NetworkPolicy, allowHosts: readonly string[], hasPolicy: boolean): void {
  const hasHosts = allowHosts.length > 0;
  if (hasPolicy && hasHosts)
    throw failure("INVALID_ARGUMENT", "Hosts are allowed twice: by a whole policy and by their names", {
      hint: [way`Leave out ${argument("allow_hosts")}, and add routes to the policy`],
    });
  if (!takesHosts(networkPolicy) && (hasHosts || hasPolicy)) {
    throw failure("INVALID_ARGUMENT", `Hosts are allowed, and the network policy is ${networkPolicy}`, {
      hint: [way`Use ${argument("network_policy", "egress")}`],
    });
  }
  if (networkPolicy === "egress" && !hasHosts && !hasPolicy) {
    throw failure("INVALID_ARGUMENT", 'Network policy "egress" names no host that may be reached', {
      hint: [way`Name each with ${argument("allow_hosts")}; '*' allows all`],
    });
  }
}

/** The routes of a workspace, in the words of a policy. */
export const policyOf = ({ egress, allowHosts }: Pick<StoredWorkspace, "egress" | "allowHosts">): Egress =>
  egress?.policy ?? { log: "all", routes: allowHosts.map((host) => ({ host })) };

/** What the gate of a plain workspace lets out; null for one without, and while its secrets are not known. */
export function egressOrder(
  deps: Dependencies,
  stored: StoredWorkspace,
  secrets: Secrets | undefined,
): EgressOrder | null {
  if (!stored.doors.some(isEgressDoor) || !secrets || (stored.egress === null && stored.allowHosts.length === 0))
    return null;
  const { log = "all", routes: listed = [] } = policyOf(stored);
  const routes = listed.map((route) =>
    toProvider(
      stored.egress,
      gateRoute(route, {
        ca: (path) => stored.egress?.authorities[path] ?? "",
        token: (name) => deps.tokens.stateOf(stored.workspaceId, name),
        onMatch: "block",
      }),
    ),
  );
  const guard =
    (kind: GuardedValue["kind"]) =>
    ([name, value]: readonly [string, string]) => ({ kind, name, value });
  return {
    log,
    routes,
    guarded: [
      ...[...secrets.values].map(guard("known_secrets")),
      ...Object.entries(stored.egress?.standIns ?? {}).map(guard("stand_ins")),
      ...guardedTokens(routes),
    ],
    way_out: readWayOut(deps),
    budget: budgetOrder(stored),
  };
}

/** Whatever an agent has seen goes to its model with its conversation: stand-ins pass there, and what is refused is told as the model would. */
function toProvider(egress: StoredEgress | null, route: GateRoute): GateRoute {
  const { providers = {}, standIns = {} } = egress ?? {};
  if (!Object.hasOwn(providers, route.host)) return route;
  const pass = new Set([...route.pass, ...Object.keys(standIns)]);
  return { ...route, pass: [...pass], provider: providers[route.host] ?? null };
}

/** The host's own way out, from its configuration. */
function readWayOut(deps: Dependencies): EgressOrder["way_out"] {
  const { proxy = null, ca = null } = deps.config().egress ?? {};
  if (ca === null) return { proxy, ca };
  const failed = (why: string) =>
    failure("CONFIG_INVALID", `Cannot read "${ca}", which is egress.ca in config.yaml: ${why}`);
  return { proxy, ca: readCertificates(ca, failed) };
}

/** Has the tools of a sandbox find the hosts that are listed, and trust what the gate shows for them. */
export async function provisionEgress(deps: Dependencies, live: LiveWorkspace): Promise<void> {
  const pem = deps.gates.certificate(live.workspaceId);
  if (pem === null) return;
  const files = await rootFiles(live);
  const { mayHaveNssTool } = await provisionTrust(files, pem);
  if (mayHaveNssTool) await trustInNss(live);
}
