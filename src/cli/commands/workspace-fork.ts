import { defineCommand } from "../command.ts";
import { ID_ONLY, MEM_MIB, VCPU_COUNT, WORKSPACE } from "../arguments/common-options.ts";
import { parseLabel, parseSeconds, toRecord } from "../arguments/option-values.ts";

export const command = defineCommand({
  words: ["workspace", "fork"],
  summary: "Make a new workspace with the files of this one",
  description:
    "What runs is not copied, unless --snapshot names a live one: then it runs on in the fork too. Its diff is against the same baseline; --rebase, or `diff --since fork`, shows what changes in the fork alone.",
  positionals: [WORKSPACE],
  options: {
    snapshot: {
      type: "string",
      value: "NAME",
      description: "The files of a snapshot (default: as they are now)",
      completes: "snapshot",
    },
    name: { type: "string", value: "NAME", description: "A name to tell the new one by" },
    rebase: {
      type: "boolean",
      description: "What it begins with is its baseline: its diff shows only what changes in it",
    },
    label: {
      type: "string",
      value: "KEY=VALUE",
      description: "A label, instead of this one's",
      multiple: true,
      parse: parseLabel,
    },
    "ttl-seconds": {
      type: "string",
      value: "SECONDS",
      description: "Delete it this long after its last activity (default: as this one)",
      parse: parseSeconds,
    },
    "vcpu-count": VCPU_COUNT,
    "mem-mib": MEM_MIB,
    "id-only": ID_ONLY,
  },
  examples: [
    "cloche workspace fork ws-4 --name attempt-2",
    "cloche workspace fork ws-4 --rebase --label attempt=3 --ttl-seconds 600",
    "cloche workspace fork ws-4 --snapshot before-refactoring --json",
    "OTHER=$(cloche workspace fork ws-4 --id-only)",
  ],
  async run(context) {
    const { values } = context;
    const client = await context.connect();
    const options = {
      snapshot: values.snapshot,
      name: values.name,
      rebase: values.rebase ? true : undefined,
      labels: values.label.length > 0 ? toRecord(values.label) : undefined,
      ttl_seconds: values["ttl-seconds"],
      vcpu_count: values["vcpu-count"],
      mem_mib: values["mem-mib"],
      onProgress: context.onProgress,
    };
    const workspace = await client.forkWorkspace(context.argument("ID"), options);
    // Without --id-only too, the id is all that there is to say.
    await context.print(workspace, () => workspace.workspace_id);
    return 0;
  },
});
