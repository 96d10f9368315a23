import { setTimeout as sleep } from "node:timers/promises";
import { onAbort } from "../../base/on-abort.ts";
import type { Dependencies } from "../dependencies.ts";
import type { LiveWorkspace } from "../live-workspace.ts";
import type { ServicePlan } from "./plan-service.ts";
import { PublishedPort } from "./published-port.ts";
import { type Probe, waitUntilReady } from "./readiness.ts";
import { forgetService, serviceSpec, spawnDetached } from "./service-process.ts";
import { isActive } from "./service-record.ts";
import type { ServiceRun } from "./service-run.ts";
import { describeEnd, startFailure } from "./start-failure.ts";

/** All or none. */
export async function openPorts(
  deps: Dependencies,
  live: LiveWorkspace,
  wanted: ServicePlan["ports"],
): Promise<PublishedPort[]> {
  const ports: PublishedPort[] = [];
  try {
    for (const port of wanted) ports.push(await PublishedPort.listen(live, { ...port, log: deps.log }));
    return ports;
  } catch (error) {
    await Promise.all(ports.map((port) => port.close()));
    throw error;
  }
}

/** Brings a run from its first record to readiness. When that fails nothing runs any more, and the record says so. */
export async function startRun(run: ServiceRun, plan: ServicePlan, signal: AbortSignal | undefined): Promise<void> {
  try {
    const hasStarted = await spawnRun(run, plan);
    if (plan.probe) await becomeReady(run, plan.probe, plan.readyTimeoutMs, signal);
    else await settle(run, hasStarted);
    signal?.throwIfAborted();
  } catch (error) {
    // What ended so that nobody knows how has ended with its sandbox, whose end may not be known yet.
    const isLost = run.isOver && run.exit === undefined && run.record.state === "failed";
    await run.fail();
    // However far the start had come, the caller is told what became of the sandbox.
    throw run.live.isCurrent && !isLost ? error : run.live.lost();
  }
}

/** Gives whether the program could be run. */
async function spawnRun(run: ServiceRun, plan: ServicePlan): Promise<boolean> {
  const { serviceName } = run.record;
  run.write({});
  const guest = await run.live.guest();
  await forgetService(guest, serviceName);
  if (run.isOver) throw await notReady(run, describeOver(run));
  const { process, hasStarted } = await spawnDetached(guest, serviceSpec(serviceName, plan.command));
  run.tellStart();
  run.follow(process);
  return hasStarted;
}

/** How long a start looks whether the program ends at once: one that has nothing to do, or a mistake at its beginning. */
const FIRST_MOMENT_MS = 100;

/** A service without readiness is ready when its program runs. If it ends in its first moment, the answer says so. */
async function settle(run: ServiceRun, hasStarted: boolean): Promise<void> {
  if (hasStarted) {
    run.markReady();
    await firstMoment(run.ended);
  } else await run.ended;
  if (run.exit?.kind === "failed") throw await notReady(run, describeEnd(run.exit));
  if (run.isOver && isActive(run.record)) throw await notReady(run, "was stopped before it was ready");
}

async function firstMoment(ended: Promise<void>): Promise<void> {
  const over = new AbortController();
  const moment = sleep(FIRST_MOMENT_MS, undefined, { signal: over.signal }).catch(() => undefined); // the program ended first
  await Promise.race([ended, moment]);
  over.abort();
}

async function becomeReady(
  run: ServiceRun,
  probe: Probe,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const enough = new AbortController();
  const stop = () => enough.abort();
  const timer = setTimeout(stop, timeoutMs);
  const stopListening = onAbort(signal, stop);
  void run.ended.then(stop);
  try {
    const isReady = await waitUntilReady(probe, enough.signal);
    signal?.throwIfAborted();
    if (run.isOver) throw await notReady(run, describeOver(run));
    if (isReady) {
      run.markReady();
      return;
    }
    await run.fail();
    throw await notReady(run, `was not ready within ${timeoutMs / 1000} s`);
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}

function describeOver(run: ServiceRun): string {
  const { state } = run.record;
  return state === "starting" || state === "stopped" ? "was stopped before it was ready" : describeEnd(run.exit);
}

const notReady = (run: ServiceRun, reason: string) =>
  startFailure(run.live, run.record.serviceName, { reason, exitCode: run.record.exitCode });
