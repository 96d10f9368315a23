import { OVERWRITE_FILE, SIGNED_OUTPUT } from "../arguments/signed-file.ts";
import { defineCommand } from "../command.ts";
import { escapeName } from "../output/escape.ts";

export const command = defineCommand({
  words: ["audit", "export"],
  summary: "Write the whole audit to a file that others can verify",
  description:
    "One entry on each line, byte for byte, and on the last line the signed checkpoint. Whoever gets it needs the public key of this installation too: keys/installation.pub in the cloche home. Exits with 1 when the audit is broken.",
  positionals: [],
  options: { output: SIGNED_OUTPUT, overwrite: OVERWRITE_FILE },
  examples: [
    "cloche audit export --output audit.jsonl",
    "cloche audit export --output /mnt/backup/audit.jsonl --overwrite",
  ],
  async run(context) {
    const client = await context.connect();
    const { output: output_path, overwrite } = context.values;
    const exported = await client.exportAudit({ output_path, overwrite });
    const { valid, count, first_bad: bad } = exported;
    await context.print(exported, () => `Wrote ${count} entries to ${escapeName(exported.output_path)}`);
    if (!valid) context.note(`warning: It is broken at entry ${bad?.sequence ?? 0}: ${escapeName(bad?.problem ?? "")}`);
    return valid ? 0 : 1;
  },
});
