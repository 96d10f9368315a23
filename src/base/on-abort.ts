/**
 * Calls `act` once when the signal is aborted; at once when it is aborted already, which a plain listener would miss. Returns a function that removes the
 * listener.
 */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal?.aborted) act();
  else signal?.addEventListener("abort", act, { once: true });
  return () => signal?.removeEventListener("abort", act);
}
