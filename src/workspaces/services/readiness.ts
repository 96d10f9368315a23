import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { onAbort } from "../../base/on-abort.ts";
import { AGENT, WORKSPACE_ROOT } from "../../model/names.ts";
import type { Readiness } from "../../model/service.ts";
import { toWorkspaceRelative } from "../../policy/workspace-path.ts";
import { toArgv } from "../../model/command-environment.ts";
import type { LiveWorkspace } from "../live-workspace.ts";
import { sandboxEnvironment } from "../sandbox-environment.ts";
import { getsGoodAnswer, toLoopbackTarget } from "./http-probe.ts";
import { processLimit } from "./service-process.ts";

const PROBE_TIMEOUT_MS = 5000;
const FIRST_DELAY_MS = 20;
const MAX_DELAY_MS = 250;

/** Asks once whether a service is ready; an error is a no. Gives up when the signal says so. */
export type Probe = (signal: AbortSignal) => Promise<boolean>;

/** Throws for what can never become ready: a path outside `/workspace`, a URL that is not the sandbox's own. */
export function createProbe(live: LiveWorkspace, readiness: Readiness): Probe {
  switch (readiness.type) {
    case "file": {
      const path = toWorkspaceRelative(readiness.path);
      return async (signal) => {
        await (await live.files()).stat("workspace", path, { signal });
        return true;
      };
    }
    case "tcp":
      return async () => {
        (await (await live.guest()).connectPort(readiness.port)).destroy();
        return true;
      };
    case "http": {
      const target = toLoopbackTarget(readiness.url);
      return async (signal) => await getsGoodAnswer(await live.guest(), target, signal);
    }
    case "command":
      return async (signal) => await commandSucceeds(live, toArgv(readiness.command), signal);
  }
}

/** Nothing reports that a port listens or a file appears, so this asks again and again. False when the signal came first. */
export async function waitUntilReady(probe: Probe, signal: AbortSignal): Promise<boolean> {
  for (let delayMs = FIRST_DELAY_MS; !signal.aborted; delayMs = Math.min(delayMs * 1.5, MAX_DELAY_MS)) {
    if (await askOnce(probe, signal)) return true;
    await sleep(delayMs, undefined, { signal }).catch(() => undefined); // the loop looks at the signal
  }
  return false;
}

async function askOnce(probe: Probe, signal: AbortSignal): Promise<boolean> {
  const stop = new AbortController();
  const end = () => stop.abort();
  const timer = setTimeout(end, PROBE_TIMEOUT_MS);
  const stopListening = onAbort(signal, end);
  try {
    const stopped = new Promise<false>((resolve) => onAbort(stop.signal, () => resolve(false)));
    return await Promise.race([probe(stop.signal).catch(() => false), stopped]);
  } finally {
    clearTimeout(timer);
    stopListening();
    stop.abort();
  }
}

async function commandSucceeds(live: LiveWorkspace, argv: readonly string[], signal: AbortSignal): Promise<boolean> {
  const process = (await live.guest()).spawn({
    argv,
    env: sandboxEnvironment(live, undefined, false),
    cwd: WORKSPACE_ROOT,
    user: AGENT,
    timeoutMs: PROBE_TIMEOUT_MS,
    graceMs: 0,
    rlimits: [processLimit(live.limits.pids)],
  });
  process.discardOutput();
  const stopListening = onAbort(signal, () => process.signal(constants.signals.SIGKILL, "tree"));
  try {
    const exit = await process.exit;
    return exit.kind === "exited" && exit.code === 0 && !exit.timedOut;
  } finally {
    stopListening();
  }
}
