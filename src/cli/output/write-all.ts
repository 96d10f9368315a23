import type { Writable } from "node:stream";

/** Writes and waits until the bytes are taken, so that a slow reader slows us down. Rejects with `EPIPE` when the reader is gone. */
export function writeAll(stream: Writable, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(data, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}
