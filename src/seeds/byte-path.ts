/**
 * A file name is bytes, not text. A `BytePath` holds one byte in each UTF-16 unit (latin1), so that names that are no UTF-8 survive,
 * while joining and comparing stay as cheap as with strings.
 */
export type BytePath = string;

const PLAIN = /^[ -~]*$/;

/** Whether `node:fs` takes the name as it is. */
export function isPlain(path: BytePath): boolean {
  return PLAIN.test(path);
}

/** What `node:fs` takes for the name. */
export function toFs(path: BytePath): string | Buffer {
  return isPlain(path) ? path : Buffer.from(path, "latin1");
}

export function toBytePath(text: string | Uint8Array): BytePath {
  return Buffer.from(text as string).toString("latin1");
}

/** For messages. */
export function shown(path: BytePath): string {
  return Buffer.from(path, "latin1").toString("utf8");
}

export function joined(folder: BytePath, name: BytePath): BytePath {
  if (folder === "") return name;
  return name === "" ? folder : folder.endsWith("/") ? folder + name : `${folder}/${name}`;
}

/** The folder that holds `path`; empty for a name without one. */
export function parentOf(path: BytePath): BytePath {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "" : path.slice(0, slash);
}
