import type { GuestClient } from "../../guest/client.ts";
import { GuestFiles } from "../../guest/files.ts";
import { commandEnvironment } from "../../model/command-environment.ts";
import { AGENT } from "../../model/names.ts";

const ROOT = { uid: 0, gid: 0 };
const LOOK_AROUND = "id; ls -la /; cat /etc/passwd; env; for tool in git python3 bash; do command -v $tool; done";

/** What almost every sandbox does first, done once before anybody asks: so that it is in the machine's memory, and the emulator has translated it. */
export async function warmUp(client: GuestClient): Promise<void> {
  await tryCommands(client);
  await run(client, ["sh", "-c", LOOK_AROUND]);
  await run(client, ["true"]);
  const files = new GuestFiles(client, ROOT);
  await files.write("system", "run/warm", Buffer.from("warm\n"), { mode: 0o600 });
  await files.remove("system", "run/warm");
}

/** As much of it as may happen in a machine that somebody has used: it leaves no trace. No more than is under way once `enough` says so. */
export async function tryCommands(client: GuestClient, enough = () => false): Promise<void> {
  for (const argv of [["/bin/cat", "/etc/passwd"], ["/bin/sh", "-c", ":"], ["/bin/true"]])
    if (!enough()) await run(client, argv);
}

async function run(client: GuestClient, argv: readonly string[]): Promise<void> {
  const command = client.spawn({ argv: [...argv], env: commandEnvironment({}, false), cwd: "/", user: AGENT });
  command.discardOutput();
  await command.exit;
}
