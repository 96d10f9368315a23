import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What the demo's agent may talk to: a server on loopback that tells what has reached it. */
export interface DemoOutside extends AsyncDisposable {
  /** As a route's `connect` takes it. */
  readonly address: string;
  readonly seen: { readonly host: string; readonly authorization: string | undefined; readonly body: string }[];
}

export async function openOutside(token: string): Promise<DemoOutside> {
  const seen: DemoOutside["seen"] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const { host = "", authorization } = request.headers;
      seen.push({ host, authorization, body: Buffer.concat(pieces).toString("utf8") });
      response.end(authorization === `Bearer ${token}` ? "Hello, I know this token" : "Who are you?");
    });
  });
  await new Promise<void>((done, fail) => {
    server.once("error", fail);
    server.listen(0, "127.0.0.1", done);
  });
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
