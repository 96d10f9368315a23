import { lstatSync } from "node:fs";

/** A file or folder, told from another that later has its name. */
export interface FolderIdentity {
  readonly device: string;
  readonly inode: string;
}

export function identifyFolder(path: string): FolderIdentity {
  const { dev, ino } = lstatSync(path, { bigint: true });
  return { device: String(dev), inode: String(ino) };
}
