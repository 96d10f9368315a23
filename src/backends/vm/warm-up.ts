import type { GuestClient } from "../../guest/client.ts";
import { GuestFiles } from "../../guest/files.ts";
import { AGENT } from "../../model/names.ts";

const ROOT = { uid: 0, gid: 0 };
const COMMANDS = [
  ["true"],
  ["sh", "-c", "id; ls -la /; cat /etc/passwd; env; for tool in git python3 bash; do command -v $tool; done"],
  ["true"],
];

/** What almost every sandbox does first, once before the machine is frozen: so that it is in every machine's memory from the start. */
export async function warmUp(client: GuestClient): Promise<void> {
  for (const argv of COMMANDS) {
    const process = client.spawn({ argv, env: { PATH: "/usr/bin:/bin" }, cwd: "/workspace", user: AGENT });
    const parts = process.output()[Symbol.asyncIterator]();
    while ((await parts.next()).done !== true) continue;
  }
  const files = new GuestFiles(client, ROOT);
  await files.write("system", "run/warm", Buffer.from("warm\n"), { mode: 0o600 });
  await files.remove("system", "run/warm");
}
