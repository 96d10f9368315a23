import { failure } from "../model/error-codes.ts";
import type { Lane } from "../model/operation.ts";
import { operationRow, type OperationName } from "../model/operations.ts";
import { FairQueue, type QueueLimits } from "./fair-queue.ts";

/** What a call has been given. */
export interface Place {
  readonly leave: () => void;
  /** Whether the answer may be large. */
  readonly isLarge: boolean;
}

type Queued = Exclude<Lane, "always">;

const FREE: Place = { leave: () => undefined, isLarge: false };
/** Above that, a file that is read or written at once is heavy. */
const HEAVY_BYTES = 1024 * 1024;

const busy = (what: string) => (key: string) =>
  key === ""
    ? failure("DAEMON_BUSY", `Too many calls that ${what} wait already`)
    : failure("WORKSPACE_BUSY", `Too many calls on workspace ${key} are under way`, {
        hint: "Wait for some of them to end, then try again",
      });

const LIMITS: Readonly<Record<Queued, QueueLimits>> = {
  // A few run for long: commands, shells that are watched.
  light: { atOnce: 2048, perKey: 256, waiting: 0, waitingPerKey: 0, refuse: busy("ask for little") },
  heavy: { atOnce: 3, perKey: 1, waiting: 256, waitingPerKey: 64, refuse: busy("ask for much") },
  making: { atOnce: 16, perKey: 12, waiting: 256, waitingPerKey: 128, refuse: busy("make something") },
  moving: { atOnce: 2, perKey: 1, waiting: 256, waitingPerKey: 64, refuse: busy("copy files") },
  watching: { atOnce: 128, perKey: 128, waiting: 0, waitingPerKey: 0, refuse: busy("watch events") },
};

/**
 * Which calls may go on now. What one call can make the daemon hold is bounded; so is how many of them do, for all workspaces together, and each workspace has
 * its turn.
 */
export class Admission {
  readonly #queues: Readonly<Record<Queued, FairQueue>> = {
    light: new FairQueue(LIMITS.light),
    heavy: new FairQueue(LIMITS.heavy),
    making: new FairQueue(LIMITS.making),
    moving: new FairQueue(LIMITS.moving),
    watching: new FairQueue(LIMITS.watching),
  };

  /** At once when there is room. Throws WORKSPACE_BUSY or DAEMON_BUSY when too many wait. */
  enter(name: OperationName, input: object, signal: AbortSignal): Place | Promise<Place> {
    const lane = laneOf(name, input);
    if (lane === "always") return FREE;
    const key = "workspace_id" in input && typeof input.workspace_id === "string" ? input.workspace_id : "";
    const isLarge = lane === "heavy";
    const entered = this.#queues[lane].enter(key, signal);
    return entered instanceof Promise ? entered.then((leave) => ({ leave, isLarge })) : { leave: entered, isLarge };
  }
}

function laneOf(name: OperationName, input: object): Lane {
  const { lane } = operationRow(name);
  if (lane !== "light") return lane;
  const isLarge =
    ("max_bytes" in input && Number(input.max_bytes) > HEAVY_BYTES) ||
    ("text" in input && String(input.text).length > HEAVY_BYTES);
  return isLarge ? "heavy" : "light";
}
