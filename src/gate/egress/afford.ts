import { once } from "node:events";
import type { EventEmitter } from "node:events";
import { denied } from "./admission.ts";
import type { EgressContext } from "./egress-context.ts";
import type { ExchangeRecord } from "./exchange-record.ts";

/** Holds a request of a run that has used up what it may. Throws `Denied` when it gets no more; `client` closes when nobody waits for it. */
export async function afford(
  { budget }: Pick<EgressContext, "budget">,
  record: ExchangeRecord,
  client: EventEmitter,
): Promise<void> {
  if (!budget.isUsedUp) return;
  const gone = new AbortController();
  const over = new AbortController();
  once(client, "close", { signal: over.signal }).then(
    () => gone.abort(),
    () => undefined,
  );
  try {
    const refusal = await budget.decide(gone.signal);
    if (refusal) throw denied(record, "BUDGET_USED_UP", refusal.message);
  } finally {
    over.abort();
  }
}
