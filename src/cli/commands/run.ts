import { defineCommand } from "../command.ts";
import { runSession } from "../terminal/command-session.ts";
import {
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
    "timeout-seconds": TIMEOUT_SECONDS,
    "seed-path": SEED_PATH,
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
    "cloche run --seed-path . --timeout-seconds 120 npm test",
    "cloche run debian:12 -it bash",
  ],
  async run(context) {
    const { values } = context;
    const client = await context.connect();
    return await runSession(context, {
      words: this.words,
      tty: values.tty,
      interactive: values.interactive,
      env: values.env,
      timeoutSeconds: values["timeout-seconds"],
      open: (request) =>
        client.openRun({
          ...request,
          environment: context.optionalArgument("ENVIRONMENT"),
          backend: values.backend,
          oci_runtime: values["oci-runtime"],
          network_policy: values["network-policy"],
          seed_path: values["seed-path"],
          vcpu_count: values["vcpu-count"],
          mem_mib: values["mem-mib"],
          cwd: values.cwd,
          command: [...context.command],
          onProgress: context.onProgress,
        }),
    });
  },
});
