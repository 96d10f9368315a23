import { readFileSync } from "node:fs";
import { messageOf } from "../base/errors.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import type { Door } from "../model/door.ts";
import { DEFAULT_PORTS } from "../model/egress.ts";
import type { EgressOrder, GateRoute } from "../model/egress-order.ts";
import { failure } from "../model/error-codes.ts";
import { argument, way } from "../model/hint.ts";
import { FILE_DATABASES, type NetworkPolicy } from "../model/names.ts";
import type { Dependencies } from "./dependencies.ts";
import { EGRESS_DOOR, isEgressDoor } from "./egress-door.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { getBackend } from "./sandbox.ts";
import type { Secrets } from "./secrets.ts";
import { rootFiles } from "./sandbox-secrets.ts";
import { provisionTrust } from "./trust/provision-trust.ts";

/** What a workspace has of a network, as it was asked for. */
export interface NetworkChoice {
  readonly networkPolicy: NetworkPolicy;
  readonly allowHosts: string[];
  readonly doors: Door[];
}

/** Whether a policy lets out to hosts, where any are named. */
export const takesHosts = (policy: NetworkPolicy): boolean =>
  policy === "egress" || policy === "egress+published-ports";

/** Judges what was asked for, before anything is made. */
export function chooseNetwork(
  deps: Dependencies,
  backend: string,
  {
    network_policy: networkPolicy = "off",
    allow_hosts: allowHosts = [],
  }: { network_policy?: NetworkPolicy | undefined; allow_hosts?: string[] | undefined },
): NetworkChoice {
  if (!takesHosts(networkPolicy) && allowHosts.length > 0) {
    throw failure("INVALID_ARGUMENT", `Hosts are allowed, and the network policy is ${networkPolicy}`, {
      hint: [way`Use ${argument("network_policy", "egress")}`],
    });
  }
  if (networkPolicy === "egress" && allowHosts.length === 0) {
    throw failure("INVALID_ARGUMENT", 'Network policy "egress" names no host that may be reached', {
      hint: [way`Name each with ${argument("allow_hosts")}; '*' allows all`],
    });
  }
  if (allowHosts.length === 0) return { networkPolicy, allowHosts, doors: [] };
  if (getBackend(deps, backend).capabilities.doors !== true) {
    throw failure("NOT_SUPPORTED", `Backend "${backend}" has no gate for network policy "${networkPolicy}"`);
  }
  readWayOut(deps);
  return { networkPolicy, allowHosts: [...new Set(allowHosts)], doors: [EGRESS_DOOR] };
}

/** What the gate of a plain workspace lets out; null for one without, and while its secrets are not known. */
export function egressOrder(
  deps: Dependencies,
  stored: StoredWorkspace,
  secrets: Secrets | undefined,
): EgressOrder | null {
  if (!stored.doors.some(isEgressDoor) || stored.allowHosts.length === 0 || !secrets) return null;
  return {
    log: "all",
    routes: stored.allowHosts.map(routeTo),
    guarded: [...secrets.values].map(([name, value]) => ({ kind: "known_secrets", name, value })),
    way_out: readWayOut(deps),
  };
}

function routeTo(host: string): GateRoute {
  return {
    host,
    ports: [...DEFAULT_PORTS],
    connect: null,
    ca: null,
    tls: "intercept",
    matches: null,
    credentials: [],
    pass: [],
    dlp: { outbound_detectors: null, inbound_detectors: [], outbound_on_match: "block" },
    provider: null,
  };
}

/** The host's own way out, from its configuration. */
function readWayOut(deps: Dependencies): EgressOrder["way_out"] {
  const { proxy = null, ca = null } = deps.config().egress ?? {};
  if (ca === null) return { proxy, ca };
  try {
    return { proxy, ca: readFileSync(ca, "utf8") };
  } catch (error) {
    throw failure("CONFIG_INVALID", `Cannot read "${ca}", which is egress.ca in config.yaml: ${messageOf(error)}`);
  }
}

/** Resolvers of a sandbox ask the gate, and nobody else. */
const NAME_FILES: Readonly<Record<string, string>> = {
  "etc/resolv.conf": "nameserver 127.0.0.1\n",
  "etc/nsswitch.conf": FILE_DATABASES.map((name) => `${name}: files${name === "hosts" ? " dns" : ""}\n`).join(""),
};

/** Has the tools of a sandbox find the hosts that are listed, and trust what the gate shows for them. */
export async function provisionEgress(deps: Dependencies, live: LiveWorkspace): Promise<void> {
  const pem = deps.gates.certificate(live.workspaceId);
  if (pem === null) return;
  const files = await rootFiles(live);
  await Promise.all([
    provisionTrust(files, pem),
    ...Object.entries(NAME_FILES).map(([path, text]) =>
      files.write("system", path, Buffer.from(text), { mode: 0o644 }),
    ),
  ]);
}
