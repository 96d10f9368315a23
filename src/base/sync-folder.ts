import { startRole } from "./starter.ts";

/** Writes out the file system that a folder is on: what is in it then outlives a crash of the host. */
export async function syncFolder(path: string): Promise<void> {
  let said = "";
  const { ended } = await startRole(["sync", path], { onStatus: (text) => (said += text) });
  if ((await ended) !== 0) throw new Error(said.trim() || `cannot write out "${path}"`);
}
