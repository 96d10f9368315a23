import type { Denial, DenialCode } from "../../model/egress-denial.ts";
import type { RequestHead } from "../../policy/dlp/detector.ts";
import { type Finding, isViolation } from "../../policy/dlp/finding.ts";
import { decideRequest } from "../../policy/egress/decide-request.ts";
import { plainCredential } from "../../policy/egress/plain-credential.ts";
import { withoutCredentials, withoutParameters } from "./credentials.ts";
import { Denied } from "./denial.ts";
import type { EgressContext } from "./egress-context.ts";
import { ExchangeRecord } from "./exchange-record.ts";
import { type HeaderList, endToEnd, filterHeaders, headerPairs, headerValue, isHopByHop } from "./header-list.ts";
import type { PolicyInForce, RouteInForce } from "./policy-in-force.ts";
import { type ReadRequest, type Unreadable, isUnreadable } from "./request-facts.ts";

/** A request that may go out, but for its body: its head as it goes on, without any credential yet. */
export interface Admitted {
  readonly request: ReadRequest;
  readonly policy: PolicyInForce;
  readonly inForce: RouteInForce;
  readonly record: ExchangeRecord;
  readonly headers: HeaderList;
  readonly target: string;
  /** The same as it was looked at; undefined where nobody looks. */
  readonly head: RequestHead | undefined;
  /** Found in its head, on a route that holds what has something in it: it goes out only when somebody lets it pass. */
  readonly held: readonly Finding[];
}

const HINTS: Readonly<Record<DenialCode, string>> = {
  EGRESS_DENIED:
    "Ask the operator for a route, with the tool egress-block where you have it, or use a host that is listed",
  DLP_BLOCKED: "Take the value out of the request; the operator can let it pass for this host",
  BUDGET_USED_UP: "Say what you have done so far; requests pass again when the operator gives more",
  BAD_REQUEST: "Send the request again in its plain form",
  UPSTREAM_FAILED: "Try again later; if it stays so, tell the operator what this message says",
  CREDENTIAL_UNAVAILABLE: "Ask the operator to give the credential again",
  GATE_BUSY: "Try again when other requests are done",
};

/** Of git's smart protocol over HTTP, as a service or as a parameter. */
const PUSH = /git-receive-pack(?![\w.-])/;
const FETCH = /git-upload-pack(?![\w.-])/;
const GIT_HINT = "Use one of those; the operator can add a repository to git.repos of the bottle";

/** Decides about the head of a request. Throws `Denied`. */
export function admit(
  context: EgressContext,
  read: ReadRequest | Unreadable,
  place: { host: string; port: number },
  method: string,
): Admitted {
  const policy = context.policy();
  const shown = (isUnreadable(read) ? (read.path ?? "") : read.target.path).slice(0, 2048);
  const record = new ExchangeRecord(context.events, { method, ...place, path: shown });
  // What passes is looked at below; what does not is looked at before it is told.
  const deny = (code: DenialCode, told: (path: string) => string, more: Partial<Pick<Denial, "hint">> = {}): Denied => {
    record.head = { ...record.head, host: shownHost(policy, place.host), path: cleaned(policy, place, shown) };
    return denied(record, code, told(record.head.path).replaceAll(place.host, record.head.host), more);
  };
  const inForce = policy.find(place.host, place.port);
  record.rule = inForce?.route.host ?? null;
  record.provider = inForce?.route.provider ?? null;
  const onward = isUnreadable(read) ? [] : endToEnd(read.headers);
  // SECURITY: a header that `Connection` takes away is none that a rule has seen (G-187)
  const header = (name: string) => headerValue(isHopByHop(name) && !isUnreadable(read) ? read.headers : onward, name);
  const facts = isUnreadable(read) ? read : { method: read.method, target: read.target, header };
  const refused = decideRequest((host) => policy.names(host), inForce, place, facts);
  const sent = isUnreadable(read) ? "" : unescaped(read.target.sent);
  const doors = PUSH.test(sent) || FETCH.test(sent) ? context.gitDoors(place.host) : undefined;
  const isOnce = refused && inForce && !isUnreadable(read) && !("problem" in facts) && context.takeOnce(place, facts);
  const isDenied = (refused && !isOnce) || isUnreadable(read) || !inForce;
  if (isDenied && doors !== undefined) {
    const why = () => `The bottle has no such repository at ${place.host}; declared are: ${doors}`;
    throw deny("EGRESS_DENIED", why, { hint: GIT_HINT });
  }
  const advice = isUnreadable(read) && inForce ? { hint: HINTS.BAD_REQUEST } : {};
  if (isDenied) throw deny("EGRESS_DENIED", refused ?? (() => "It is not listed"), advice);
  // SECURITY: a pack is packed, and nobody can look into it here: pushes to an upstream of the bottle go through the git gate (G-92)
  if (PUSH.test(sent) && doors !== undefined) {
    const why = () => `Pushes to ${place.host} go through the git gate: ${doors}`;
    throw deny("EGRESS_DENIED", why, { hint: GIT_HINT });
  }
  const { credentials } = inForce.route;
  const plain = plainCredential(read.place, inForce.route, credentials);
  if (plain !== undefined) throw deny("EGRESS_DENIED", () => plain);
  if (inForce.missing.length > 0) {
    context.want(inForce.missing.map(({ name }) => name));
    const why = inForce.missing.map(({ name, problem }) => (problem === null ? name : `${name} (${problem})`));
    throw deny(
      "CREDENTIAL_UNAVAILABLE",
      () => `The gate has no credential for ${read.place.host} now: ${why.join(", ")}`,
    );
  }
  const bare = withoutCredentials(onward, credentials);
  const target = withoutParameters(read.target.sent, credentials);
  const scanned = scanHead({ policy, inForce, record, read }, bare, target);
  return { request: read, policy, inForce, record, ...scanned };
}

/** A refusal that is written down. */
export function denied(
  record: ExchangeRecord,
  code: DenialCode,
  message: string,
  more: Partial<Pick<Denial, "hint" | "proposal_id">> = {},
): Denied {
  const { host, path } = record.head;
  const denial: Denial = { code, message, host, path, rule: record.rule, hint: HINTS[code], ...more };
  record.denied(denial);
  return new Denied(denial, record.provider);
}

interface HeadScan {
  readonly policy: PolicyInForce;
  readonly inForce: RouteInForce;
  readonly record: ExchangeRecord;
  readonly read: ReadRequest;
}

/** SECURITY: nothing that must not leave is in the head of a request: its host, its path, its query, its headers (G-41) */
function scanHead(
  { policy, inForce, record, read }: HeadScan,
  headers: HeaderList,
  target: string,
): Pick<Admitted, "headers" | "target" | "head" | "held"> {
  const { outbound, route } = inForce;
  if (!outbound) return { headers, target, head: undefined, held: [] };
  const at = target.indexOf("?");
  const [path, query] = at < 0 ? [target, ""] : [target.slice(0, at), target.slice(at + 1)];
  const { host } = read.place;
  const spoken = filterHeaders(headers, (name) => name !== "host" && name !== "content-length");
  const head = { host, path, query, headers: headerPairs(spoken) };
  const asItIs = { headers, target, head, held: [] };
  const findings = outbound.head(head, policy.memory(host, outbound));
  record.found(findings);
  const violations = findings.filter(isViolation);
  if (violations.length === 0) return asItIs;
  const overwritten = (place: string, text: string) => outbound.redactText(place, text).value;
  record.head = { ...record.head, host: shownHost(policy, host), path: overwritten("path", path) };
  const places = [...new Set(violations.map(({ place }) => place))].join(", ");
  const isRedactable = violations.every(({ place }) => place !== "host");
  if (route.dlp.outbound_on_match === "supervise" && isRedactable) return { ...asItIs, held: violations };
  if (route.dlp.outbound_on_match !== "redact" || !isRedactable)
    throw denied(record, "DLP_BLOCKED", `The request has something in it that must not leave (${places})`);
  const clean = headerPairs(headers).flatMap(([name, value]) => [
    name,
    overwritten(`header:${name.toLowerCase()}`, value),
  ]);
  const cleanTarget = overwritten("path", path) + (at < 0 ? "" : `?${overwritten("query", query)}`);
  // What is only whole over several parts cannot be overwritten in any.
  const cleanHead = {
    host,
    path: cleanTarget.split("?")[0] ?? "",
    query: cleanTarget.split("?")[1] ?? "",
    headers: headerPairs(clean),
  };
  if (outbound.head(cleanHead).some(isViolation))
    throw denied(record, "DLP_BLOCKED", `The request has something in it that must not leave (${places})`);
  return { headers: clean, target: cleanTarget, head: cleanHead, held: [] };
}

/** SECURITY: a name that nobody listed may be a value that must not leave, and is told all the same (G-41) */
export const shownHost = (policy: PolicyInForce, host: string): string =>
  policy.everywhere.redactText("host", host).value;

/** As a server reads it: `git%2dreceive-pack` is a push too. */
const unescaped = (target: string): string =>
  target.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** A path as it may be told, also that of a request that no route was asked about. */
function cleaned(policy: PolicyInForce, { host, port }: { host: string; port: number }, path: string): string {
  const scan = policy.find(host, port)?.outbound ?? policy.everywhere;
  return scan.redactText("path", path).value;
}
