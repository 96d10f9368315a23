import { readFileSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../base/errors.ts";
import type { GuestClient } from "../../guest/client.ts";
import { GuestFiles } from "../../guest/files.ts";
import { AGENT } from "../../model/names.ts";
import { NAME_FILES, isGvisor } from "./container-config.ts";

/**
 * An engine empties these files of an image for its own to be mounted over; the environment's are put back. gVisor does not let go of a file that is
 * mounted: there `/etc/hostname` stays the engine's, with the workspace's id.
 */
export async function restoreNameFiles(client: GuestClient, root: string, runtime: string | undefined): Promise<void> {
  const names = isGvisor(runtime) ? NAME_FILES.filter((name) => name !== "etc/hostname") : NAME_FILES;
  const files = new GuestFiles(client, client.hello.canChangeUser ? { uid: 0, gid: 0 } : AGENT);
  await Promise.all(
    names.map(async (name) => {
      const content = readIfThere(join(root, name));
      if (content) await files.write("system", name, content, { mode: 0o644 });
    }),
  );
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
