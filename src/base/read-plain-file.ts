import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/**
 * The content of an ordinary file, also by way of a link. Throws for anything else.
 * SECURITY: a pipe would be waited for, and some devices have no end; the whole process would stand still (G-10, G-13).
 */
export function readPlainFile(path: string, maxBytes: number): Buffer {
  return readOpenFile(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY), maxBytes);
}

/** The same of a descriptor that was opened without waiting; it is closed. */
export function readOpenFile(fd: number, maxBytes: number): Buffer {
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Error(stat.isDirectory() ? "it is a folder" : "it is no ordinary file");
    if (stat.size > maxBytes) throw tooLong(maxBytes);
    // The kernel's own files have no size, and one of somebody else's may grow.
    const pieces: Buffer[] = [];
    let left = maxBytes;
    for (let piece = readPiece(fd, stat.size); piece.length > 0; piece = readPiece(fd, left)) {
      left -= piece.length;
      if (left < 0) throw tooLong(maxBytes);
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  } finally {
    closeSync(fd);
  }
}

function readPiece(fd: number, wanted: number): Buffer {
  const piece = Buffer.alloc(Math.min(wanted, 1_048_576) + 1);
  return piece.subarray(0, readSync(fd, piece, 0, piece.length, null));
}

const tooLong = (maxBytes: number) => new Error(`it has more than ${maxBytes} bytes`);
