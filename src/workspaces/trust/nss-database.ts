import type { GuestFiles } from "../../guest/files.ts";
import { CA_FILE } from "../../model/egress-environment.ts";
import { AGENT, WORKSPACE_ROOT } from "../../model/names.ts";
import { sandboxEnvironment } from "../sandbox-environment.ts";
import type { LiveWorkspace } from "../live-workspace.ts";

/** NSS's own tool, in an environment that has it: nothing else writes such a database. */
const CERTUTIL = "usr/bin/certutil";
const PATIENCE_MS = 10_000;
const SCRIPT = `
  folder=$HOME/.pki/nssdb
  mkdir -p "$folder" || exit
  database=sql:$folder
  [ -e "$folder/cert9.db" ] || certutil -d "$database" -N --empty-password || exit
  certutil -d "$database" -D -n "$2" 2>/dev/null
  exec certutil -d "$database" -A -t C,, -n "$2" -i "$1"
`;
export const NSS_NAME = "cloche egress gate";

/** Has browsers and other programs of NSS trust the gate, which read the user's database and no variable. It is a convenience: what does not work is left. */
export async function trustInNss(live: LiveWorkspace, files: GuestFiles): Promise<void> {
  const isThere = await files.stat("system", CERTUTIL).then(
    () => true,
    () => false,
  );
  if (!isThere) return;
  const made = (await live.guest()).spawn({
    argv: ["/bin/sh", "-c", SCRIPT, "sh", CA_FILE, NSS_NAME],
    env: sandboxEnvironment(live, undefined, false),
    cwd: WORKSPACE_ROOT,
    user: AGENT,
    timeoutMs: PATIENCE_MS,
  });
  made.discardOutput();
  await made.exit;
}
