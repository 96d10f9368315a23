import { resolve } from "node:path";
import { placesFrom } from "../../base/paths.ts";
import { KEY } from "../arguments/signed-file.ts";
import { defineCommand } from "../command.ts";
import { formatTime } from "../output/duration.ts";
import { escapeName } from "../output/escape.ts";

export const command = defineCommand({
  words: ["evidence", "verify"],
  summary: "Say whether a file of evidence is as it was signed",
  description:
    "Needs the file and the public key, and nothing else: no daemon, no network. Where a signature for ssh-keygen is beside it, that has to fit too. Exits with 1 when it does not.",
  positionals: [{ name: "FILE", description: "What `cloche evidence` wrote", completes: "host-path" }],
  options: { key: KEY },
  examples: [
    "cloche evidence verify evidence.json",
    "cloche evidence verify evidence.json --key installation.pub --json",
  ],
  async run(context) {
    const [{ publicKeyFile, readPublicKey }, { verifyEvidence }] = await Promise.all([
      import("../../audit/public-key-file.ts"),
      import("../../audit/verify-evidence.ts"),
    ]);
    const { key } = context.values;
    const { home } = placesFrom(context.io.env);
    const publicKey = readPublicKey(key === undefined ? publicKeyFile(home) : resolve(context.io.cwd, key));
    const verified = verifyEvidence(resolve(context.io.cwd, context.argument("FILE")), publicKey);
    await context.print(verified, () => {
      const ssh = verified.ssh_signature === "valid" ? ", and by its signature for ssh-keygen" : "";
      const when = formatTime(verified.made_at);
      return `${context.colours.green("valid")}  Evidence of ${escapeName(verified.identity)}, made ${when}, signed by key ${verified.key_id.slice(0, 16)}${ssh}`;
    });
    for (const what of verified.missing) context.note(`note: Not in it: ${escapeName(what)}`);
    return 0;
  },
});
