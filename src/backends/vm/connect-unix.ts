import { type Socket, connect } from "node:net";
import { openSocketAddress } from "../../base/unix-path.ts";

/** A connection to a unix socket whose path may be of any length. */
export async function connectUnix(path: string): Promise<Socket> {
  const address = openSocketAddress(path);
  const socket = connect(address.path);
  try {
    await new Promise<void>((done, fail) => {
      socket.once("connect", done);
      socket.once("error", fail);
    });
    return socket;
  } finally {
    address.release();
  }
}
