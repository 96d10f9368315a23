import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { failure } from "../model/error-codes.ts";
import { GuestClient } from "./client.ts";

const O_PATH = 0o10000000;

/**
 * Connects to a guest's socket. Opened first without following a link and found to be a socket, then reached through that descriptor: so the
 * name may be of any length, and under gVisor, where the guest makes it, can lead nowhere else.
 */
export async function connectGuest(path: string, signal: AbortSignal | undefined): Promise<GuestClient> {
  // SECURITY: a guest that puts a link in the socket's place gets no connection to another socket of the host (G-02).
  const fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
  let socket: Socket;
  try {
    if (!fstatSync(fd).isSocket()) throw failure("GUEST_PROTOCOL", "The guest's socket was replaced by something else");
    socket = await open(`/proc/self/fd/${fd}`);
  } finally {
    closeSync(fd);
  }
  return await GuestClient.connect(socket, signal ? { signal } : {});
}

function open(path: string): Promise<Socket> {
  return new Promise((done, fail) => {
    const socket = connect(path);
    socket.once("error", fail);
    socket.once("connect", () => {
      socket.off("error", fail);
      done(socket);
    });
  });
}
