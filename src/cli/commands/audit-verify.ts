import { resolve } from "node:path";
import { placesFrom } from "../../base/paths.ts";
import type { AuditVerified } from "../../model/audit.ts";
import { KEY } from "../arguments/signed-file.ts";
import { defineCommand, type Context } from "../command.ts";
import { escapeName } from "../output/escape.ts";

export const command = defineCommand({
  words: ["audit", "verify"],
  summary: "Say whether the audit is as it was written, and name the first entry that is not",
  description:
    "Reads every entry: that it follows on the one before, that the key of this installation has signed it, and that the log still reaches the checkpoint kept beside it. Finds what was edited, taken out, moved, added or cut off. " +
    "With FILE it verifies what `cloche audit export` wrote, without a daemon. Exits with 1 when something is wrong.",
  positionals: [
    {
      name: "FILE",
      description: "A file of `cloche audit export` (default: the audit of this home)",
      optional: true,
      completes: "host-path",
    },
  ],
  options: { key: KEY },
  examples: [
    "cloche audit verify",
    "cloche audit verify --json | jq .first_bad",
    "cloche audit verify audit-2026.jsonl --key installation.pub",
  ],
  async run(context) {
    const verified = await verify(context);
    const { green, red } = context.colours;
    const { valid, count, first_bad: bad } = verified;
    await context.print(verified, () =>
      valid
        ? `${green("valid")}  ${count} ${count === 1 ? "entry" : "entries"}, signed by key ${verified.key_id.slice(0, 16)}`
        : `${red("broken")}  at entry ${bad?.sequence ?? 0}: ${escapeName(bad?.problem ?? "")}. ${count} before it follow on each other`,
    );
    return valid ? 0 : 1;
  },
});

async function verify(context: Context<{ key: typeof KEY }>): Promise<AuditVerified> {
  const file = context.optionalArgument("FILE");
  const { key } = context.values;
  if (file === undefined && key === undefined) return await (await context.connect()).verifyAudit();
  const [{ publicKeyFile, readPublicKey }, { verifyAudit, verifyExport }, { auditPlaces }] = await Promise.all([
    import("../../audit/public-key-file.ts"),
    import("../../audit/verify-audit.ts"),
    import("../../audit/audit-places.ts"),
  ]);
  const { home } = placesFrom(context.io.env);
  const publicKey = readPublicKey(key === undefined ? publicKeyFile(home) : resolve(context.io.cwd, key));
  if (file === undefined) return await verifyAudit(auditPlaces(home), publicKey);
  return await verifyExport(resolve(context.io.cwd, file), publicKey);
}
