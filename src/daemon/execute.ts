import { parseArgs } from "node:util";
import { errnoOf, isClocheError, messageOf } from "../base/errors.ts";
import { placesFrom } from "../base/paths.ts";
import { failure, toErrorDocument } from "../model/error-codes.ts";
import type { Compose } from "./composition.ts";
import { startDaemonHere, type Daemon, type Endpoints } from "./run-daemon.ts";
import { describeError } from "./to-failure.ts";

/** `EX_TEMPFAIL`: another daemon is there. The client that started this one uses that daemon. */
const EXIT_HELD = 75;
const DEFAULT_IDLE_SECONDS = 60;
const HARMLESS: ReadonlySet<string> = new Set(["EPIPE", "ECONNRESET", "EMFILE", "ENFILE"]);

/** The daemon as a process. Says `ready` or an error document on stdout, one line, and nothing else ever. */
export async function executeDaemon(
  args: readonly string[],
  compose: Compose,
  endpoints: Endpoints = {},
): Promise<void> {
  // The client that waits for that line may be gone.
  process.stdout.on("error", () => undefined);
  let daemon: Daemon | "held";
  try {
    daemon = await startDaemonHere({ ...parseOptions(args), ...endpoints }, compose);
  } catch (error) {
    const told = isClocheError(error) ? error : failure("INTERNAL", `Cannot start the daemon: ${messageOf(error)}`);
    process.stderr.write(`${describeError(error)}\n`);
    process.stdout.write(`${JSON.stringify(toErrorDocument(told))}\n`, () => process.exit(1));
    return;
  }
  if (daemon === "held") process.exit(EXIT_HELD);
  attend(daemon);
  process.stdout.write("ready\n");
  await daemon.ended;
  process.exit(0);
}

function parseOptions(args: readonly string[]) {
  const { values } = parseFlags(args);
  const idleSeconds = Number(values["idle-seconds"] ?? DEFAULT_IDLE_SECONDS);
  if (!(idleSeconds > 0)) throw failure("USAGE", "--idle-seconds must be a number above 0");
  const found = placesFrom(process.env, values.home);
  const places = { home: found.home, cache: values.cache ?? found.cache };
  return { places, idleSeconds, logLevel: process.env["CLOCHE_LOG"] };
}

function parseFlags(args: readonly string[]) {
  const text = { type: "string" } as const;
  try {
    return parseArgs({ args: [...args], options: { home: text, cache: text, "idle-seconds": text }, strict: true });
  } catch (error) {
    throw failure("USAGE", `Cannot start the daemon: ${messageOf(error)}`);
  }
}

function attend(daemon: Daemon): void {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(signal, () => void daemon.stop(signal));
  }
  // Operations catch their own errors, so this is work that nobody waits for: the others go on.
  process.on("unhandledRejection", (error) => daemon.log.error("unhandled rejection", { error: describeError(error) }));
  process.on("uncaughtException", (error) => {
    daemon.log.error("uncaught exception", { error: describeError(error) });
    // One broken connection is no reason to end; after anything else the state is unknown, and the next daemon starts clean.
    const code = errnoOf(error);
    // SECURITY: nor is a moment without descriptors: else any program that takes all descriptors could end the daemon (G-25)
    if (!HARMLESS.has(code ?? "")) process.exit(1);
  });
}
