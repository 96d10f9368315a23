import { request } from "node:http";
import type { GuestClient } from "../../guest/client.ts";
import { failure } from "../../model/error-codes.ts";

export interface HttpTarget {
  readonly port: number;
  /** With its port, as the URL has it. */
  readonly host: string;
  readonly path: string;
}

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/** All of them are the sandbox's `127.0.0.1`, which is where the guest program connects. */
export function toLoopbackTarget(text: string): HttpTarget {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const port = url?.port === "" ? 80 : Number(url?.port);
  // SECURITY: a probe is a request on somebody's behalf; it goes into the sandbox and nowhere else (G-03).
  if (url?.protocol !== "http:" || !LOOPBACK.includes(url.hostname) || url.username || url.password || port === 0) {
    throw failure(
      "INVALID_ARGUMENT",
      `Readiness URL ${JSON.stringify(text)} is not one of the sandbox's own loopback`,
      {
        hint: "Give a URL like http://127.0.0.1:8080/health",
      },
    );
  }
  return { port, host: url.host, path: `${url.pathname}${url.search}` };
}

/** Whether a GET over a connection into the sandbox is answered by 2xx or 3xx. Rejects when there is no answer. */
export async function getsGoodAnswer(guest: GuestClient, target: HttpTarget, signal: AbortSignal): Promise<boolean> {
  const socket = await guest.connectPort(target.port);
  try {
    return await new Promise<boolean>((resolve, reject) => {
      request({
        method: "GET",
        path: target.path,
        headers: { host: target.host, connection: "close", "user-agent": "cloche" },
        createConnection: () => socket,
        signal,
      })
        .once("response", (response) => {
          response.on("error", () => undefined); // its body is not waited for
          const { statusCode = 0 } = response;
          resolve(statusCode >= 200 && statusCode < 400);
        })
        .on("error", reject)
        .end();
    });
  } finally {
    socket.destroy();
  }
}
