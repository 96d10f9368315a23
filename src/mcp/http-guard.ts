import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { userOfSocket } from "../base/loopback-users.ts";

export interface Refusal {
  readonly status: 401 | 403 | 404;
  readonly message: string;
}

export const WRONG_TOKEN: Refusal = {
  status: 401,
  message:
    "The bearer token is missing or wrong: `cloche mcp token` tells one that lasts, `cloche daemon status --json` this daemon's own as mcp_token",
};

/**
 * Who may speak to the endpoint. Anybody on this machine can connect, and any web page can make its reader's browser connect: a page is told by its origin or
 * by the name it used for us, everybody else by the token, which only the user can get.
 */
export function refuse(
  { url = "", headers }: { readonly url?: string | undefined; readonly headers: IncomingHttpHeaders },
  port: number,
  tokens: readonly string[],
): Refusal | undefined {
  const own = [`127.0.0.1:${port}`, `localhost:${port}`];
  // SECURITY: a page whose name was made to point here has another name in Host (G-18)
  if (!own.includes(headers.host ?? "")) return { status: 403, message: "The Host header names another server" };
  const { origin } = headers;
  // SECURITY: a browser says which page asks (G-18)
  if (origin !== undefined && !own.some((one) => origin === `http://${one}`)) {
    return { status: 403, message: "The Origin header names another site" };
  }
  // SECURITY: other users of this machine do not have the token (G-18)
  if (tokenOf(headers, tokens) === undefined) return WRONG_TOKEN;
  return new URL(url, "http://127.0.0.1").pathname === "/mcp"
    ? undefined
    : { status: 404, message: "There is nothing here but /mcp" };
}

/** Which of the tokens was shown. All are compared, whichever it is. */
export function tokenOf({ authorization = "" }: IncomingHttpHeaders, tokens: readonly string[]): string | undefined {
  return tokens.filter((token) => isSame(authorization, `Bearer ${token}`))[0];
}

/**
 * SECURITY: who has the token and is another user is refused: where a port is fixed, another user can have listened there before the daemon, and has then been
 * sent the token by its clients (G-34)
 */
export async function refuseUser(socket: Socket): Promise<Refusal | undefined> {
  const { remoteAddress = "", remotePort = 0, localAddress = "", localPort = 0 } = socket;
  const user = await userOfSocket(
    { address: remoteAddress, port: remotePort },
    { address: localAddress, port: localPort },
  );
  if (user === process.getuid?.()) return undefined;
  return { status: 403, message: "The connection is not one of the user whose daemon this is" };
}

/** Takes the same time wherever they differ. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
