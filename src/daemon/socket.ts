import { chmodSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { openSocketAddress } from "../base/unix-path.ts";

/**
 * Listens on a socket that only this user can use. A file that is there is what an ended daemon left: the caller holds the store, so no
 * other one can listen. Closing the server removes the socket.
 */
export async function listenPrivately(server: Server, path: string): Promise<void> {
  rmSync(path, { force: true });
  const address = openSocketAddress(path);
  server.once("close", address.release);
  // SECURITY: nobody else may connect, not even between bind and chmod (G-14)
  const before = process.umask(0o177);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ path: address.path }, () => {
        server.off("error", reject);
        resolve();
      });
      process.umask(before);
    });
  } finally {
    process.umask(before);
  }
  chmodSync(path, 0o600);
}
