import { z } from "zod";
import { canonicalHostPattern } from "./host-name.ts";
import { SECRET_NAME } from "./names.ts";

const MAX_ROUTES = 256;
const MAX_ENTRIES = 64;

const port = z.number().int().min(1).max(65_535);
const text = z.string().min(1).max(4096);
const variable = z
  .string()
  .regex(SECRET_NAME, "a variable's name is 1 to 64 letters, digits or '_', and starts with no digit");
const headerName = z
  .string()
  .max(256)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "a header's name has letters, digits and '-'");
/** The gate's own, or those that say where a message ends and where it goes. */
const FRAMING = /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|:.*)$/i;

/** An exact name, or `*.example.com` for all below it. */
export const RouteHost = z
  .string()
  .max(255)
  .transform((given, context) => {
    const host = canonicalHostPattern(given);
    if (host !== undefined) return host;
    context.addIssue({ code: "custom", message: whyNoHost(given) });
    return z.NEVER;
  });

function whyNoHost(given: string): string {
  if (given === "*") return "a route names its hosts: an exact name, or *.example.com for all below it";
  if (/[/@]|\w:\d+$/.test(given))
    return "it is a name alone, as in api.example.com, without a scheme, a port or a path";
  if (given.startsWith("*.")) return "at least two labels follow the star, as in *.example.com";
  if (/^\[|^[\d.]+$|:/.test(given) || /^localhost\.?$/i.test(given))
    return "localhost and addresses are no hosts; a route may dial an address with `connect`";
  return "it is no name of a host";
}

export const PathRule = z
  .strictObject({ type: z.enum(["exact", "prefix", "regex"]), value: text })
  .refine(({ type, value }) => type === "regex" || /^\/|^\*$/.test(value), {
    path: ["value"],
    message: "a path begins with a slash",
  });
export type PathRule = z.infer<typeof PathRule>;
export const HeaderRule = z.strictObject({
  name: headerName,
  value: z.string().max(4096),
  type: z.enum(["exact", "prefix", "regex"]).optional(),
});

/** One of several is enough; in one, each key that is there has to hold, and of its list one entry. */
export const RouteMatch = z.strictObject({
  paths: z.array(PathRule).min(1).max(MAX_ENTRIES).optional(),
  methods: z
    .array(z.string().regex(/^[A-Z]{1,32}$/, "a method is upper-case letters"))
    .min(1)
    .max(MAX_ENTRIES)
    .optional(),
  headers: z.array(HeaderRule).min(1).max(MAX_ENTRIES).optional(),
});
export type RouteMatch = z.infer<typeof RouteMatch>;

/** A credential that the gate puts in and the sandbox never sees. */
export const RouteAuth = z
  .strictObject({
    scheme: z.enum(["Bearer", "token", "Basic", "ApiKey"]),
    /** A variable in the environment of whoever launches. */
    token_ref: variable.optional(),
    /** Run on the host without a shell; prints a token, or JSON with `token` or `access_token`, and `expires_in`. */
    token_command: z.array(text).min(1).max(MAX_ENTRIES).optional(),
    header: headerName.refine((name) => !FRAMING.test(name), "this header is the gate's own").optional(),
    query: z
      .string()
      .max(256)
      .regex(/^[A-Za-z0-9._~-]+$/, "a parameter's name has letters, digits, '.', '_', '~' and '-'")
      .optional(),
  })
  .refine(
    ({ token_ref, token_command }) => (token_ref === undefined) !== (token_command === undefined),
    "a credential has either token_ref or token_command",
  )
  .refine(({ header, query }) => header === undefined || query === undefined, "a credential has one place");
export type RouteAuth = z.infer<typeof RouteAuth>;

export const OnMatch = z.enum(["block", "redact", "supervise"]);
export type OnMatch = z.infer<typeof OnMatch>;

/** Which detectors look at what goes out and comes in, and what happens when one finds something. Without a list, all look. */
export const RouteDlp = z.strictObject({
  outbound_detectors: z.array(z.string().max(64)).max(MAX_ENTRIES).optional(),
  inbound_detectors: z.array(z.string().max(64)).max(MAX_ENTRIES).optional(),
  outbound_on_match: OnMatch.optional(),
});

const CONNECT = /^(?:(?:\d{1,3}\.){3}\d{1,3}|\[[0-9A-Fa-f:.]+\]):\d{1,5}$/;

/** Numbers may be too large, and a zero in front makes another address of one. */
function canBeDialled(connect: string): boolean {
  const url = `http://${connect}`;
  if (!URL.canParse(url) || /:0+$/.test(connect)) return false;
  return connect.startsWith("[") || connect.startsWith(`${new URL(url).hostname}:`);
}

export const Route = z
  .strictObject({
    host: RouteHost,
    ports: z.array(port).min(1).max(MAX_ENTRIES).optional(),
    /** Dialled instead of what the name resolves to; the only way to a private address. */
    connect: z
      .string()
      .regex(CONNECT, "it is ADDRESS:PORT, as in 127.0.0.1:8443 or [::1]:8443")
      .refine(canBeDialled, "there is no such address or port")
      .optional(),
    /** A PEM file of the host, trusted for the upstream. */
    ca: text.optional(),
    tls: z.enum(["intercept", "passthrough"]).optional(),
    /** Names of environment values that may go to this host. */
    secrets: z.array(variable).max(MAX_ENTRIES).optional(),
    auth: z.union([RouteAuth, z.array(RouteAuth).min(1).max(8)]).optional(),
    matches: z.array(RouteMatch).min(1).max(MAX_ENTRIES).optional(),
    dlp: RouteDlp.optional(),
  })
  .refine(
    ({ tls, auth, matches, dlp }) => tls !== "passthrough" || !(auth ?? matches ?? dlp),
    "a passthrough route is a tunnel: the gate sees nothing in it, so it has no auth, matches or dlp",
  );
export type Route = z.infer<typeof Route>;

export const EgressLog = z.enum(["off", "blocks", "all"]);
export type EgressLog = z.infer<typeof EgressLog>;

/** What may leave a sandbox. What is not listed stays in. */
export const Egress = z.strictObject({
  log: EgressLog.optional(),
  routes: z
    .array(Route)
    .max(MAX_ROUTES)
    .superRefine((routes, context) => {
      const seen = new Set<string>();
      for (const [index, { host }] of routes.entries()) {
        if (seen.has(host))
          context.addIssue({ code: "custom", path: [index, "host"], message: `"${host}" is there twice` });
        seen.add(host);
      }
    })
    .optional(),
});
export type Egress = z.infer<typeof Egress>;
export type EgressInput = z.input<typeof Egress>;

/** What `--allow-host` takes: a host, `*.example.com`, or `*` for every host. */
export const AllowedHost = z
  .string()
  .max(255)
  .transform((given, context) => {
    if (given === "*") return given;
    const host = canonicalHostPattern(given);
    if (host !== undefined) return host;
    context.addIssue({ code: "custom", message: `"${given}": ${whyNoHost(given)}` });
    return z.NEVER;
  });
