import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/**
 * The content of an ordinary file, also by way of a link. Throws for anything else.
 * SECURITY: a pipe would be waited for, and some devices have no end; the whole process would stand still (G-10, G-13).
 */
export function readPlainFile(path: string, maxBytes: number): Buffer {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Error(stat.isDirectory() ? "it is a folder" : "it is no ordinary file");
    if (stat.size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}
