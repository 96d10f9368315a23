import { AUDIT_KINDS, type AuditKind } from "../../model/audit.ts";
import { parseCount } from "../arguments/option-values.ts";
import { defineCommand } from "../command.ts";
import { escapeName } from "../output/escape.ts";
import { formatTable } from "../output/table.ts";
import { AUDIT_HEADER, auditRow } from "../results/audit-row.ts";

export const command = defineCommand({
  words: ["audit", "show"],
  summary: "Show what somebody may have to answer for: who decided what, and what left",
  description:
    "Prints the newest entries of the audit, oldest first: runs, proposals and how they were answered, changes of policy, uses of credentials, pushes and refusals. " +
    "Repeated uses and refusals are one entry with their number. It shows what is written, and does not say whether that was changed: that is `cloche audit verify`.",
  positionals: [
    {
      name: "IDENTITY",
      description: "Only what is about that run, also when it is gone",
      optional: true,
      completes: "workspace",
    },
  ],
  options: {
    kind: {
      type: "string",
      value: "KIND",
      description: "Only entries of that kind",
      multiple: true,
      choices: Object.keys(AUDIT_KINDS) as AuditKind[],
    },
    limit: { type: "string", value: "COUNT", description: "At most so many (default: 1000)", parse: parseCount },
  },
  examples: [
    "cloche audit show",
    "cloche audit show reviewer-k3x9a",
    "cloche audit show --kind proposal.decided --json | jq '.entries[] | {operator, details}'",
  ],
  async run(context) {
    const { kind: kinds, limit } = context.values;
    const identity = context.optionalArgument("IDENTITY");
    const client = await context.connect();
    const shown = await client.showAudit({ identity, limit, ...(kinds.length > 0 && { kinds }) });
    if (shown.count === 0 && !context.json) context.note("No entries");
    if (shown.problem !== null)
      context.note(
        `warning: What happened last is not in it: ${escapeName(shown.problem)}; see \`cloche audit verify\``,
      );
    await context.print(shown, () =>
      shown.count === 0 ? "" : formatTable(AUDIT_HEADER, shown.entries.map(auditRow), context.layout).join("\n"),
    );
    return 0;
  },
});
