import type { EgressInput } from "../../model/egress.ts";
import { defineCommand } from "../command.ts";
import { runSession } from "../terminal/command-session.ts";
import {
  ALLOW_HOST,
  BACKEND,
  CWD,
  ENV,
  ENVIRONMENT,
  INTERACTIVE,
  MEM_MIB,
  NETWORK_POLICY,
  OCI_RUNTIME,
  SEED_PATH,
  TIMEOUT_SECONDS,
  TTY,
  VCPU_COUNT,
} from "../arguments/common-options.ts";
import { SEED_INCLUDE_OPTIONS, seedIncludeInput } from "../arguments/include-options.ts";
import { EGRESS_POLICY, withPolicyFile } from "../arguments/policy-file.ts";
import { ALLOW_TOKEN_COMMANDS } from "../arguments/token-commands.ts";
import { noteSeed } from "../results/left-out-notes.ts";

/** `host` and names with a colon, such as debian:12: no program that people run is called so. */
const isEnvironment = (word: string): boolean => word === "host" || word.includes(":");

export const command = defineCommand({
  words: ["run"],
  summary: "Run one command in a fresh workspace, then delete it",
  description:
    "The first word is the environment when it is `host` or has a colon in it; else the command begins there, also without `--`. Standard input is passed on when it is piped. The exit code is the command's own.",
  positionals: [ENVIRONMENT],
  options: {
    backend: BACKEND,
    "oci-runtime": OCI_RUNTIME,
    "network-policy": NETWORK_POLICY,
    "allow-host": ALLOW_HOST,
    "egress-policy": EGRESS_POLICY,
    "allow-token-commands": ALLOW_TOKEN_COMMANDS,
    "timeout-seconds": TIMEOUT_SECONDS,
    "seed-path": SEED_PATH,
    ...SEED_INCLUDE_OPTIONS,
    "vcpu-count": VCPU_COUNT,
    "mem-mib": MEM_MIB,
    cwd: CWD,
    env: ENV,
    interactive: INTERACTIVE,
    tty: TTY,
  },
  takesCommand: true,
  isOwnWord: isEnvironment,
  examples: [
    "cloche run -- sh -c 'id; ls /'",
    "cloche run --seed-path . --include node_modules --timeout-seconds 120 npm test",
    "cloche run debian:12 -it bash",
    "cloche run --network-policy egress --allow-host example.com curl https://example.com/",
    "cloche run --egress-policy ./egress.yaml curl https://api.example.com/v1/items",
  ],
  async run(context) {
    const { values } = context;
    const include = seedIncludeInput(values, this.words);
    const client = await context.connect();
    return await runSession(context, {
      words: this.words,
      tty: values.tty,
      interactive: values.interactive,
      env: values.env,
      timeoutSeconds: values["timeout-seconds"],
      open: async (request) => {
        const run = (egress?: EgressInput) =>
          client.openRun({
            ...request,
            egress,
            ...include,
            environment: context.optionalArgument("ENVIRONMENT"),
            backend: values.backend,
            oci_runtime: values["oci-runtime"],
            network_policy: values["network-policy"],
            allow_hosts: values["allow-host"].length > 0 ? values["allow-host"] : undefined,
            seed_path: values["seed-path"],
            vcpu_count: values["vcpu-count"],
            mem_mib: values["mem-mib"],
            cwd: values.cwd,
            command: [...context.command],
            onProgress: context.onProgress,
          });
        const file = values["egress-policy"];
        const runs = { isAllowed: values["allow-token-commands"], seedPath: values["seed-path"] };
        const stream =
          file === undefined
            ? await run()
            : await withPolicyFile(context.io, { file, words: this.words, flag: "--egress-policy", runs }, run);
        noteSeed(context, stream.workspace_seed);
        return stream;
      },
    });
  },
});
