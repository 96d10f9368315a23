/**
 * Acts once when the signal says so; at once when it has said so already, which a listener of one's own would miss: signals come while one
 * waits for something else. Gives what takes it back.
 */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal?.aborted) act();
  else signal?.addEventListener("abort", act, { once: true });
  return () => signal?.removeEventListener("abort", act);
}
