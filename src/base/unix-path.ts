import { closeSync, openSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** `sun_path` of Linux has 108 bytes, one of them for the final NUL. */
const MAX_SOCKET_PATH_BYTES = 107;

/** A name for a unix socket that fits into an address; `release` when the address is no longer needed. */
export interface SocketAddress {
  readonly path: string;
  /** Idempotent. */
  readonly release: () => void;
}

/**
 * A path that is too long for an address is reached through its folder: opened once, it has the short name `/proc/self/fd/N`. Throws the
 * system error when that folder cannot be opened. A listener keeps the address until it is closed, because closing unlinks by that name.
 */
export function openSocketAddress(path: string): SocketAddress {
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return { path, release: () => undefined };
  let fd: number | undefined = openSync(dirname(path), "r");
  return {
    path: join("/proc/self/fd", String(fd), basename(path)),
    release: () => {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}
