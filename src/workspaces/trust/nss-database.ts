import { CA_FILE } from "../../model/egress-environment.ts";
import { AGENT, WORKSPACE_ROOT } from "../../model/names.ts";
import { sandboxEnvironment } from "../sandbox-environment.ts";
import type { LiveWorkspace } from "../live-workspace.ts";

const PATIENCE_MS = 10_000;
export const NSS_TOOL = "certutil";
/** By NSS's own tool, in an environment that has it: nothing else writes such a database. */
const SCRIPT = `
  command -v ${NSS_TOOL} >/dev/null || exit
  folder=$HOME/.pki/nssdb
  mkdir -p "$folder" || exit
  database=sql:$folder
  if [ -e "$folder/cert9.db" ]
  then certutil -d "$database" -D -n "$2" 2>/dev/null
  else certutil -d "$database" -N --empty-password || exit
  fi
  exec certutil -d "$database" -A -t C,, -n "$2" -i "$1"
`;
export const NSS_NAME = "cloche egress gate";

/** Has browsers and other programs of NSS trust the gate, which read the user's database and no variable. It is a convenience: what does not work is left. */
export async function trustInNss(live: LiveWorkspace): Promise<void> {
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
