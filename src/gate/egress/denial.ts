import { DENIAL_CODES, type Denial, type DenialCode } from "../../model/egress-denial.ts";
import type { ProviderShape } from "../../model/egress-order.ts";

/** Thrown where a request ends at the gate. */
export class Denied extends Error {
  readonly denial: Denial;
  readonly provider: ProviderShape | null;

  constructor(denial: Denial, provider: ProviderShape | null) {
    super(denial.message);
    this.denial = denial;
    this.provider = provider;
  }
}

export interface DenialAnswer {
  readonly status: number;
  /** Name and value in turns. */
  readonly headers: string[];
  readonly body: Buffer;
}

/** A denial as the agent gets it: in one shape, and on a provider's route in the provider's own. */
export function denialAnswer(denial: Denial, provider: ProviderShape | null = null): DenialAnswer {
  const status = provider !== null && isRefusal(denial.code) ? 400 : DENIAL_CODES[denial.code];
  const { code, message, host, path, rule, hint, proposal_id } = denial;
  const told =
    provider === null
      ? { error: { code, message, host, path, rule, hint, proposal_id } }
      : inShape(provider, status, denial);
  const body = Buffer.from(`${JSON.stringify(told)}\n`);
  const headers = [
    "content-type",
    "application/json",
    "content-length",
    String(body.length),
    "cache-control",
    "no-store",
  ];
  return { status, headers, body };
}

/** The same for git, which shows its user a plain text, and no other. */
export function denialForGit({ code, message, hint }: Denial): DenialAnswer {
  const body = Buffer.from(`cloche: ${message} (${code})\nhint: ${hint}\n`);
  const type = "text/plain; charset=utf-8";
  const headers = ["content-type", type, "content-length", String(body.length), "cache-control", "no-store"];
  return { status: DENIAL_CODES[code], headers, body };
}

const isRefusal = (code: DenialCode): boolean => DENIAL_CODES[code] === 403;

function inShape(provider: ProviderShape, status: number, { code, message, hint }: Denial): object {
  const text = `${message} (${code}). ${hint}`;
  switch (provider) {
    case "anthropic":
      return { type: "error", error: { type: status >= 500 ? "api_error" : "invalid_request_error", message: text } };
    case "openai":
      return {
        error: { message: text, type: status >= 500 ? "server_error" : "invalid_request_error", param: null, code },
      };
    case "google":
      return { error: { code: status, message: text, status: status >= 500 ? "UNAVAILABLE" : "INVALID_ARGUMENT" } };
  }
}
