import { createHash } from "node:crypto";
import { type IdMap, SHIFT_BASE, SHIFT_COUNT } from "../../base/id-map.ts";

/** Apart from the ids of sandboxes, so that no emulator owns a file of a sandbox. */
const FIRST_USER = SHIFT_BASE + SHIFT_COUNT;
/** So many that no two machines of a host get the same by chance: one user's processes may look into each other. */
const USERS = 2 ** 27;

/** The user that an emulator runs as where root starts it, another one for each machine; a user's own machines are the user's. */
export function emulatorUser(name: string, idMap: IdMap): number | undefined {
  if (idMap.kind === "single") return undefined;
  return FIRST_USER + (createHash("sha256").update(name).digest().readUInt32LE(0) % USERS);
}
