import { z } from "zod";
import { Limits } from "./workspace.ts";

const NO_PROXY_URL = "a proxy is http://HOST:PORT or https://HOST:PORT";

/** `$CLOCHE_HOME/config.yaml`. Unknown keys are errors. */
export const Config = z.strictObject({
  backend: z.string().optional(),
  environment: z.string().optional(),
  ttl_seconds: z.number().positive().optional(),
  grace_seconds: z.number().min(0).optional(),
  limits: Limits.optional(),
  /** How the operator hears of a proposal: `notify`, the address of a webhook, or a command line. */
  on_proposal: z.string().trim().min(1).max(4096).optional(),
  /** The host's own way out: what gates use for upstreams. */
  egress: z
    .strictObject({
      proxy: z
        .string()
        .regex(/^https?:\/\/[^\s/]+\/?$/, NO_PROXY_URL)
        .refine((url) => URL.canParse(url), NO_PROXY_URL)
        .optional(),
      /** A PEM file. */
      ca: z.string().min(1).max(4096).optional(),
    })
    .optional(),
  /** Where MCP is over HTTP. */
  mcp: z.strictObject({ port: z.number().int().min(1).max(65_535).optional() }).optional(),
});
export type Config = z.infer<typeof Config>;

export const DEFAULTS = {
  backend: "container",
  environment: "host",
  /** On a backend that cannot show folders of the host. */
  machine_environment: "debian:12",
  ttl_seconds: 3600,
  /** How long a workspace with changes is kept after its time to live. */
  grace_seconds: 86_400,
  exec_timeout_seconds: 30,
} as const;
