import type { GateCredential } from "../../model/egress-order.ts";
import { type HeaderList, filterHeaders } from "./header-list.ts";

/** Headers in which credentials are sent to common services. */
const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set([
  "cookie",
  "token",
  "x-token",
  "x-session-token",
  "x-amz-security-token",
  "x-csrf-token",
  "x-github-token",
  "x-gitlab-token",
  "x-vault-token",
  "private-token",
  "job-token",
  "deploy-token",
  "circle-token",
  "x-figma-token",
  "x-plex-token",
  "x-consul-token",
  "x-nomad-token",
  "aeg-sas-token",
  "aeg-sas-key",
  "x-functions-key",
  "x-rapidapi-key",
  "x-jfrog-art-api",
  "npm-otp",
  "x-github-otp",
  "x-gitea-otp",
]);
/** And those that say it by their ending: `x-goog-api-key`, `dd-api-key`, `x-shopify-access-token`. */
const ENDING =
  /(?:^|-)(?:authorization|authentication|api-?key|(?:api|auth|access|bearer|refresh)-(?:token|key|secret)|(?:app|application|client|consumer|secret|subscription)-(?:key|secret))$/;

/** Servers that give headers to programs as variables make one of `_` and `-`. */
const dashed = (name: string): string => name.toLowerCase().replaceAll("_", "-");

const isCredentialHeader = (name: string): boolean => CREDENTIAL_HEADERS.has(name) || ENDING.test(name);

/**
 * SECURITY: on a route with a credential of the gate's the agent's own are taken out, so that nobody else's account is used there, and no value gets out that
 * way (G-39)
 */
export function withoutCredentials(headers: HeaderList, credentials: readonly GateCredential[]): string[] {
  if (credentials.length === 0) return [...headers];
  const own = new Set(credentials.flatMap(({ header }) => (header === null ? [] : [dashed(header)])));
  return filterHeaders(headers, (name) => !isCredentialHeader(dashed(name)) && !own.has(dashed(name)));
}

/** The parameters that credentials go into are the gate's. */
export function withoutParameters(target: string, credentials: readonly GateCredential[]): string {
  const at = target.indexOf("?");
  if (at < 0 || credentials.length === 0) return target;
  const names = new Set(credentials.flatMap(({ query }) => (query === null ? [] : [query])));
  if (names.size === 0) return target;
  const kept = target
    .slice(at + 1)
    .split("&")
    .filter((parameter) => !names.has(decoded(parameter.split("=")[0] ?? "")));
  return kept.length === 0 ? target.slice(0, at) : `${target.slice(0, at)}?${kept.join("&")}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

/** Puts them in: into headers, in place, and into the target, which is returned. */
export function inject(headers: string[], target: string, credentials: readonly GateCredential[]): string {
  let sent = target;
  for (const credential of credentials) {
    if (credential.query === null) headers.push(headerOf(credential), valueOf(credential));
    else {
      const parameter = `${credential.query}=${encodeURIComponent(credential.token ?? "")}`;
      sent += (sent.includes("?") ? "&" : "?") + parameter;
    }
  }
  return sent;
}

const headerOf = ({ header, scheme }: GateCredential): string =>
  header ?? (scheme === "ApiKey" ? "x-api-key" : "authorization");

function valueOf({ scheme, token }: GateCredential): string {
  const bare = token ?? "";
  switch (scheme) {
    case "ApiKey":
      return bare;
    case "Basic":
      // `user:password`, or a token that stands for both.
      return `Basic ${Buffer.from(bare.includes(":") ? bare : `x-access-token:${bare}`).toString("base64")}`;
    default:
      return `${scheme} ${bare}`;
  }
}
