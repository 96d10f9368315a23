import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

export interface Refusal {
  readonly status: 401 | 403 | 404;
  readonly message: string;
}

/**
 * Who may speak to the endpoint. Anybody on this machine can connect, and any web page can make its reader's browser connect: a page is told by its origin or
 * by the name it used for us, everybody else by the token, which only the user can get.
 */
export function refuse(url: string, headers: IncomingHttpHeaders, port: number, token: string): Refusal | undefined {
  const own = [`127.0.0.1:${port}`, `localhost:${port}`];
  // SECURITY: a page whose name was made to point here has another name in Host (G-18)
  if (!own.includes(headers.host ?? "")) return { status: 403, message: "The Host header names another server" };
  const { origin } = headers;
  // SECURITY: a browser says which page asks (G-18)
  if (origin !== undefined && !own.some((one) => origin === `http://${one}`)) {
    return { status: 403, message: "The Origin header names another site" };
  }
  // SECURITY: other users of this machine do not have the token (G-18)
  if (!isSame(headers.authorization ?? "", `Bearer ${token}`)) {
    return {
      status: 401,
      message: "The bearer token is missing or wrong: `cloche daemon status --json` tells it as mcp_token",
    };
  }
  return new URL(url, "http://127.0.0.1").pathname === "/mcp"
    ? undefined
    : { status: 404, message: "There is nothing here but /mcp" };
}

/** Takes the same time wherever they differ. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
