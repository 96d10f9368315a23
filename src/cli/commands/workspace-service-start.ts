import type { Readiness, Service } from "../../model/service.ts";
import { defineCommand } from "../command.ts";
import { SECRET_ENV, WORKSPACE } from "../arguments/common-options.ts";
import { parsePort, parsePublication, parseSeconds, toRecord } from "../arguments/option-values.ts";
import { formatPorts } from "../results/service-details.ts";
import { usageError } from "../arguments/usage-error.ts";

export const command = defineCommand({
  words: ["workspace", "service", "start"],
  summary: "Start a program that goes on in the background",
  description:
    "Returns when the service is ready; without a condition, when it has started. One that does not get ready is ended. --publish needs a workspace that was created with --network-policy published-ports.",
  positionals: [WORKSPACE, { name: "NAME", description: "A name to tell the service by" }],
  options: {
    "ready-file": { type: "string", value: "PATH", description: "Ready when this file is there, under /workspace" },
    "ready-tcp": {
      type: "string",
      value: "PORT",
      description: "Ready when it listens on this port of the sandbox",
      parse: parsePort,
    },
    "ready-http": {
      type: "string",
      value: "URL",
      description: "Ready when this URL of the sandbox's loopback answers",
    },
    "ready-command": {
      type: "string",
      value: "CMD",
      description: "Ready when this shell command, run in the sandbox, exits with 0",
    },
    "ready-timeout-seconds": {
      type: "string",
      value: "TIME",
      description: "How long it may take to get ready, in seconds or as 90s, 10m, 2h (default: 30)",
      parse: parseSeconds,
    },
    publish: {
      type: "string",
      value: "[HOST:]GUEST",
      description:
        "Reach this port of the sandbox at 127.0.0.1 of the host, without HOST at one that is free; needs the network policy published-ports",
      multiple: true,
      parse: parsePublication,
    },
    "secret-env": SECRET_ENV,
  },
  takesCommand: true,
  examples: [
    "cloche workspace service start ws-4 web --ready-tcp 8080 -- npm start",
    "cloche workspace service start ws-4 web --ready-http http://127.0.0.1:8080/health --publish 8080 -- npm start",
    "cloche workspace service start ws-4 worker --ready-file .ready -- ./worker",
  ],
  async run(context) {
    const { values } = context;
    const conditions = [
      ...when(values["ready-file"], (path): Readiness => ({ type: "file", path })),
      ...when(values["ready-tcp"], (port): Readiness => ({ type: "tcp", port })),
      ...when(values["ready-http"], (url): Readiness => ({ type: "http", url })),
      ...when(values["ready-command"], (text): Readiness => ({ type: "command", command: text })),
    ];
    if (conditions.length > 1)
      throw usageError(
        this.words,
        "Give only one of --ready-file, --ready-tcp, --ready-http and --ready-command",
        "A --ready-command can check several things.",
      );
    const client = await context.connect();
    const service = await client.startService(context.argument("ID"), context.argument("NAME"), {
      command: [...context.command],
      readiness: conditions[0],
      ready_timeout_seconds: values["ready-timeout-seconds"],
      published_ports: values.publish,
      secret_env: toRecord(values["secret-env"]),
    });
    await context.print(service, () => [startedLine(service), ...formatPorts(service)].join("\n"));
    return 0;
  },
});

/** Without a condition it is started, and may have ended by now. */
const startedLine = ({ service_name: name, state, exit_code: code }: Service): string =>
  state === "exited" ? `${name} has exited, exit code ${code ?? "unknown"}` : `${name} is ${state}`;

const when = <Value, Result>(value: Value | undefined, make: (value: Value) => Result): Result[] =>
  value === undefined ? [] : [make(value)];
