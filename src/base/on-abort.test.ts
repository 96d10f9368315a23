import { expect, it, vi } from "vitest";
import { onAbort } from "./on-abort.ts";

it("acts once when the signal comes, at once when it has come before, and never when it was taken back", () => {
  const abort = new AbortController();
  const [later, takenBack, late] = [vi.fn(), vi.fn(), vi.fn()];
  onAbort(abort.signal, later);
  onAbort(abort.signal, takenBack)();
  expect(later).not.toHaveBeenCalled();
  abort.abort();
  abort.abort();
  expect(later).toHaveBeenCalledOnce();
  expect(takenBack).not.toHaveBeenCalled();
  onAbort(abort.signal, late)();
  expect(late).toHaveBeenCalledOnce();
  onAbort(undefined, () => expect.unreachable())();
});
