import type { EgressInput } from "../../model/egress.ts";
import { defineCommand } from "../command.ts";
import {
  ALLOW_HOST,
  BACKEND,
  ENVIRONMENT,
  ID_ONLY,
  MEM_MIB,
  NETWORK_POLICY,
  OCI_RUNTIME,
  SEED_PATH,
  VCPU_COUNT,
} from "../arguments/common-options.ts";
import { SEED_INCLUDE_OPTIONS, seedIncludeInput } from "../arguments/include-options.ts";
import { EGRESS_POLICY, withPolicyFile } from "../arguments/policy-file.ts";
import { ALLOW_TOKEN_COMMANDS } from "../arguments/token-commands.ts";
import { noteSeed } from "../results/left-out-notes.ts";
import { parseLabel, parseSecret, parseSecretFile, parseSeconds, toRecord } from "../arguments/option-values.ts";

export const command = defineCommand({
  words: ["workspace", "create"],
  summary: "Create a workspace",
  positionals: [ENVIRONMENT],
  options: {
    backend: BACKEND,
    "oci-runtime": OCI_RUNTIME,
    "seed-path": SEED_PATH,
    ...SEED_INCLUDE_OPTIONS,
    "from-workspace": {
      type: "string",
      value: "ID",
      description:
        "Start with what another workspace is now: its files, name, labels and environment, also on another backend",
      completes: "workspace",
    },
    name: { type: "string", value: "NAME", description: "A name to tell it by" },
    label: { type: "string", value: "KEY=VALUE", description: "A label", multiple: true, parse: parseLabel },
    "network-policy": NETWORK_POLICY,
    "allow-host": ALLOW_HOST,
    "egress-policy": EGRESS_POLICY,
    "allow-token-commands": ALLOW_TOKEN_COMMANDS,
    secret: {
      type: "string",
      value: "NAME=VALUE",
      description: "A secret; commands get it only with --secret-env, and it is shown as [REDACTED]",
      multiple: true,
      sensitive: true,
      parse: parseSecret,
    },
    "secret-file": {
      type: "string",
      value: "NAME=PATH",
      description: "A secret, read from a file, so that its value is in no list of processes",
      multiple: true,
      sensitive: true,
      parse: parseSecretFile,
      completes: "host-path",
    },
    "ttl-seconds": {
      type: "string",
      value: "TIME",
      description: "It expires this long after its last activity, in seconds or as 90s, 10m, 2h (default: 3600)",
      parse: parseSeconds,
    },
    keep: { type: "boolean", description: "It never expires" },
    "vcpu-count": VCPU_COUNT,
    "mem-mib": MEM_MIB,
    "id-only": ID_ONLY,
  },
  examples: [
    "cloche workspace create --seed-path . --name first",
    "cloche workspace create --seed-path . --include node_modules --remember",
    "cloche workspace create debian:12 --label team=web --ttl-seconds 600",
    "cloche workspace create --from-workspace ID --backend docker",
    "cloche workspace create debian:12 --from-workspace ID --backend vm",
    "cloche workspace create --backend docker --oci-runtime runsc",
    "cloche workspace create --secret-file TOKEN=./token.txt",
    "cloche workspace create --network-policy egress --allow-host registry.example.com --allow-host '*.example.com'",
    "cloche workspace create --egress-policy ./egress.yaml",
    "ID=$(cloche workspace create --seed-path . --id-only)",
  ],
  async run(context) {
    const { values } = context;
    const include = seedIncludeInput(values, this.words);
    const client = await context.connect();
    const create = (egress?: EgressInput) =>
      client.createWorkspace({
        environment: context.optionalArgument("ENVIRONMENT"),
        backend: values.backend,
        oci_runtime: values["oci-runtime"],
        seed_path: values["seed-path"],
        ...include,
        from_workspace: values["from-workspace"],
        name: values.name,
        labels: values.label.length > 0 ? toRecord(values.label) : undefined,
        network_policy: values["network-policy"],
        allow_hosts: values["allow-host"].length > 0 ? values["allow-host"] : undefined,
        egress,
        secrets: [
          ...values.secret.map(({ name, value }) => ({ name, value })),
          ...values["secret-file"].map(({ name, value }) => ({ name, file_path: value })),
        ],
        ttl_seconds: values["ttl-seconds"],
        keep: values.keep || undefined,
        vcpu_count: values["vcpu-count"],
        mem_mib: values["mem-mib"],
        onProgress: context.onProgress,
      });
    const file = values["egress-policy"];
    const runs = { isAllowed: values["allow-token-commands"], seedPath: values["seed-path"] };
    const workspace =
      file === undefined
        ? await create()
        : await withPolicyFile(context.io, { file, words: this.words, flag: "--egress-policy", runs }, create);
    const id = workspace.workspace_id;
    await context.print(workspace, () =>
      values["id-only"]
        ? id
        : `${id}\n${context.colours.dim(`Next: ${context.io.program} workspace exec ${id} -- COMMAND`)}`,
    );
    noteSeed(context, workspace.workspace_seed);
    return 0;
  },
});
