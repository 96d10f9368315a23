import type { DockerEngine } from "../../docker-engine/engine.ts";
import type { GuestClient } from "../../guest/client.ts";
import { failure } from "../../model/error-codes.ts";
import { connectGuest } from "../../guest/connect-guest.ts";
import { fileAppears } from "../../walls/file-appears.ts";

const LOG_LINES = 20;
/** Longer than the wait for the socket, whose own deadline says what was waited for. */
const WATCH_MS = 60_000;

/** The guest's first answer, or why the container ended before it. */
export async function firstConnection(
  engine: DockerEngine,
  container: string,
  socket: string,
  signal: AbortSignal | undefined,
): Promise<GuestClient> {
  const greeted = new AbortController();
  const waiting = signal ? AbortSignal.any([signal, greeted.signal]) : greeted.signal;
  const ended = engine.containerEnds(container, WATCH_MS, greeted.signal).then(async (isOver): Promise<never> => {
    if (!isOver) return await new Promise<never>(() => undefined);
    throw await startFailure(engine, container);
  });
  try {
    return await Promise.race([connect(socket, waiting), ended]);
  } finally {
    ended.catch(() => undefined); // once greeted, an end is the connection's to tell
    greeted.abort();
  }
}

async function connect(socket: string, signal: AbortSignal): Promise<GuestClient> {
  await fileAppears(`${socket}.ready`, signal);
  return await connectGuest(socket, signal);
}

async function startFailure(engine: DockerEngine, container: string): Promise<Error> {
  const state = await engine.findContainer(container);
  if (!state) return failure("SANDBOX_START_FAILED", "Cannot start the sandbox: somebody removed its container");
  const output = (await engine.containerLog(container, LOG_LINES)).trim();
  const reason =
    state.State.Error || output.split("\n").at(-1) || `its first process ended with code ${state.State.ExitCode}`;
  return failure("SANDBOX_START_FAILED", `Cannot start the sandbox: ${reason}`, { details: { output } });
}
