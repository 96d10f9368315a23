import { isClocheError, messageOf } from "../base/errors.ts";

/** What the probe of a backend says when nothing could be started. The hint is the error's own; `log` is where to look when it has none. */
export function unavailable(
  error: unknown,
  log = "See daemon.log in the cloche home",
): { available: false; detail: string; hint: string } {
  return { available: false, detail: messageOf(error), hint: isClocheError(error) ? error.hint : log };
}
