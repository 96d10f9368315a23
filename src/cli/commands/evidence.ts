import { OVERWRITE_FILE, SIGNED_OUTPUT } from "../arguments/signed-file.ts";
import { defineCommand } from "../command.ts";
import { formatBytes } from "../output/bytes.ts";
import { escapeName } from "../output/escape.ts";

export const command = defineCommand({
  words: ["evidence"],
  summary: "Write what a run did and was allowed into one signed file",
  description:
    "Diff, commands, requests, uses of credentials, pushes, approvals, findings, tokens of the model, and the hashes of environment and policy: an in-toto statement in a DSSE envelope, in a Sigstore bundle, so that others' tools verify it. " +
    "Beside it, with .sig at its end, is a signature for `ssh-keygen -Y verify -n cloche-evidence`. Works while the run goes on, and after its end as far as it is kept; what is missing is said. `cloche evidence verify FILE` checks one.",
  positionals: [{ name: "IDENTITY", description: "The run, also one that has ended", completes: "run" }],
  options: { output: SIGNED_OUTPUT, overwrite: OVERWRITE_FILE },
  examples: ["cloche evidence reviewer-k3x9a --output evidence.json", "cloche evidence verify evidence.json"],
  async run(context) {
    const client = await context.connect();
    const { output: output_path, overwrite } = context.values;
    const { onProgress } = context;
    const made = await client.makeEvidence(context.argument("IDENTITY"), { output_path, overwrite, onProgress });
    await context.print(
      made,
      () =>
        `Wrote ${formatBytes(made.size_bytes)} to ${escapeName(made.output_path)} and ${escapeName(made.signature_path)}\n` +
        `Verify it with the key ${escapeName(made.public_key_path)}`,
    );
    for (const what of made.missing) context.note(`note: Not in it: ${escapeName(what)}`);
    return 0;
  },
});
