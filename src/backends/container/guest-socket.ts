import { closeSync, constants, existsSync, fstatSync, openSync } from "node:fs";
import { watch } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { dirname } from "node:path";
import { GuestClient } from "../../guest/client.ts";
import { failure } from "../../model/error-codes.ts";

const O_PATH = 0o10000000;
const START_DEADLINE_MS = 30_000;

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

/** Waits, told by the folder, until the name is there. */
export async function fileAppears(path: string, signal: AbortSignal | undefined): Promise<void> {
  const deadline = AbortSignal.timeout(START_DEADLINE_MS);
  // Watched before the first look, so that nothing is missed between.
  const changes = watch(dirname(path), { signal: signal ? AbortSignal.any([signal, deadline]) : deadline })[
    Symbol.asyncIterator
  ]();
  try {
    while (!existsSync(path)) if ((await changes.next()).done === true) return;
  } catch (error) {
    if (deadline.aborted) throw failure("SANDBOX_START_FAILED", "The guest program did not open its socket in time");
    throw error;
  }
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
