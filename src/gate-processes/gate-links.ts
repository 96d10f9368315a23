import { readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { ServedDoors } from "../contracts/gates.ts";
import { gateFolder } from "./gate-keeper.ts";

const LINK = /^to-\d+$/;

/**
 * Names the places of this host that a gate may have its keeper connect it to: link `to-0` leads to the guest program's socket, `to-PORT` to where the door at that
 * port leads. The gate cannot change them.
 */
export function writeLinks(
  home: string,
  workspaceId: string,
  { guestSocket, doors }: Pick<ServedDoors, "guestSocket" | "doors">,
): void {
  const folder = gateFolder(home, workspaceId);
  const wanted = new Map<string, string>();
  if (guestSocket !== null) wanted.set("to-0", guestSocket);
  for (const { port, to } of doors) if (to.kind === "unix") wanted.set(`to-${port}`, to.path);
  for (const name of readdirSync(folder)) {
    if (!LINK.test(name)) continue;
    const path = join(folder, name);
    if (readlinkSync(path) === wanted.get(name)) wanted.delete(name);
    else if (!wanted.has(name)) rmSync(path);
  }
  for (const [name, target] of wanted) {
    const fresh = join(folder, `${name}.new`);
    rmSync(fresh, { force: true });
    symlinkSync(target, fresh);
    renameSync(fresh, join(folder, name));
  }
}
