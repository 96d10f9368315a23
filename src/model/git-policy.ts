import { z } from "zod";
import { NAME, SECRET_NAME } from "./names.ts";

const text = z.string().min(1).max(4096);
const oneLine = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^\p{Cc}<>]*$/u, "it has no line breaks, '<' or '>'");
const globs = z.array(text).min(1).max(256);

/** Who commits are by. */
export const GitUser = z.strictObject({ name: oneLine.optional(), email: oneLine.optional() });
export type GitUser = z.infer<typeof GitUser>;

const allowOrDeny = z.enum(["allow", "deny"]);
const fingerprint = z
  .string()
  .regex(/^[0-9a-f]{32}$/, "it is a fingerprint of 32 digits and letters a to f, as a refused push shows it");

/** What may be pushed. Without any: every branch and path, and no force, no deletion, no tag. */
export const PushRules = z.strictObject({
  /** Globs of names below `refs/heads/`. */
  branches: globs.optional(),
  tags: allowOrDeny.optional(),
  force: allowOrDeny.optional(),
  delete: allowOrDeny.optional(),
  /** Globs. With `allow`, nothing else may be changed; `deny` wins. */
  paths: z.strictObject({ allow: globs.optional(), deny: globs.optional() }).optional(),
  max_file_mb: z.number().positive().max(102_400).optional(),
  /** `identity`: who new commits are by is who the bottle says. `any`: the agent says. */
  authors: z.enum(["identity", "any"]).optional(),
});
export type PushRules = z.infer<typeof PushRules>;

/** A repository behind the git gate. Of one that a bottle extends, only what changes has to be there. */
export const GitRepo = z.strictObject({
  url: text
    .refine(
      (url) => upstreamOf(url) !== undefined,
      "it is no ssh://HOST/PATH, git@HOST:PATH, https://HOST/PATH, http://HOST/PATH or file:///PATH",
    )
    .optional(),
  host_key: text.optional(),
  key: z.strictObject({ provider: z.enum(["static"]), path: text }).optional(),
  auth: z.strictObject({ token_ref: z.string().regex(SECRET_NAME, "it is the name of a variable") }).optional(),
  /** A PEM file of the host, trusted for the upstream. */
  ca: text.optional(),
  rules: PushRules.optional(),
  /** Fingerprints of findings that may be pushed. */
  allow_findings: z.array(fingerprint).max(1000).optional(),
  /** Whether a fetch is answered from the mirror when the upstream cannot be reached. */
  allow_stale: z.boolean().optional(),
  on_violation: z.enum(["block", "supervise"]).optional(),
});
export type GitRepo = z.infer<typeof GitRepo>;

export const GitPolicy = z.strictObject({
  user: GitUser.optional(),
  /** The file with a private key of ssh's, by which the host signs commits and tags. */
  signing: z.strictObject({ key: text }).optional(),
  repos: z
    .record(
      z
        .string()
        .regex(
          NAME,
          "a repository's name is 1 to 64 letters, digits, '.', '_' or '-', and starts with a letter or digit",
        ),
      GitRepo,
    )
    .optional(),
});
export type GitPolicy = z.infer<typeof GitPolicy>;

/** Where a repository's upstream is; a file has no port. */
export interface GitUpstream {
  readonly host: string;
  readonly port: number | null;
}

const PORTS: Readonly<Record<string, number>> = { "ssh:": 22, "https:": 443, "http:": 80 };

/** Undefined for what is no upstream. */
export function upstreamOf(url: string): GitUpstream | undefined {
  const short = /^[A-Za-z0-9._-]+@([A-Za-z0-9.-]+):(?!\/\/)\S+$/.exec(url);
  if (short?.[1] !== undefined) return { host: short[1].toLowerCase(), port: 22 };
  // A parser of URLs takes the next name for a host that is left out.
  if (!/^(?:file:\/\/(?:localhost)?\/|(?:ssh|https?):\/\/[^/])/i.test(url) || !URL.canParse(url)) return undefined;
  const { protocol, hostname, port, pathname } = new URL(url);
  if (protocol === "file:") return pathname.length > 1 ? { host: "file", port: null } : undefined;
  const usual = Object.hasOwn(PORTS, protocol) ? PORTS[protocol] : undefined;
  if (usual === undefined || hostname === "" || pathname.length <= 1) return undefined;
  return { host: hostname.toLowerCase(), port: port === "" ? usual : Number(port) };
}
