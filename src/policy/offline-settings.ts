import { EGRESS_ENVIRONMENT } from "../model/egress-environment.ts";

/**
 * Without a network, a tool that tries again only keeps people waiting: `npm install` takes more than a minute for each package before it says what
 * is wrong. These variables tell the common tools to try once. They forbid nothing, so a registry on the sandbox's own loopback still works. Tools
 * that try once anyway have no line: git, curl, wget, go.
 */
const TRY_ONCE: Readonly<Record<string, string>> = {
  // npm and pnpm
  npm_config_fetch_retries: "0",
  // yarn from version 2 on; version 1 has no such setting
  YARN_HTTP_RETRY: "0",
  // Without a single retry pip does not say why it found nothing.
  PIP_RETRIES: "1",
  UV_HTTP_RETRIES: "0",
  POETRY_REQUESTS_MAX_RETRIES: "0",
  CARGO_NET_RETRY: "0",
  RUSTUP_MAX_RETRIES: "0",
  BUNDLE_RETRY: "0",
};

/** The variables that every command of a workspace gets because it has a way out, or none; the caller's own come after them and win. */
export const networkSettings = (hasEgress: boolean): Readonly<Record<string, string>> =>
  hasEgress ? EGRESS_ENVIRONMENT : TRY_ONCE;
