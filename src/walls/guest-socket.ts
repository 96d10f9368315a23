import { closeSync, constants, existsSync, fstatSync, openSync } from "node:fs";
import { watch } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errnoOf } from "../base/errors.ts";
import { GuestClient } from "../guest/client.ts";
import { failure } from "../model/error-codes.ts";

const O_PATH = 0o10000000;
const START_DEADLINE_MS = 30_000;
const LOOK_AGAIN_MS = 20;

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
  const over = signal ? AbortSignal.any([signal, deadline]) : deadline;
  try {
    await watchUntilThere(path, over).catch((error: unknown) => {
      // The user's share of inotify may be used up, by whatever; a start has to work all the same.
      if (!["EMFILE", "ENOSPC"].includes(errnoOf(error) ?? "")) throw error;
      return lookUntilThere(path, over);
    });
  } catch (error) {
    if (deadline.aborted) throw failure("SANDBOX_START_FAILED", "The guest program did not open its socket in time");
    throw error;
  }
}

async function watchUntilThere(path: string, over: AbortSignal): Promise<void> {
  const found = new AbortController();
  const changes = watch(dirname(path), { signal: AbortSignal.any([over, found.signal]) })[Symbol.asyncIterator]();
  // The watch begins with the first `next`: before the first look, so that nothing is missed between.
  let change = changes.next();
  try {
    while (!existsSync(path)) {
      if ((await change).done === true) return;
      change = changes.next();
    }
  } finally {
    change.catch(() => undefined);
    found.abort();
  }
}

async function lookUntilThere(path: string, over: AbortSignal): Promise<void> {
  while (!existsSync(path)) await sleep(LOOK_AGAIN_MS, undefined, { signal: over });
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
