import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { silentLog } from "../base/log.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { Expiry } from "./expiry.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it("tries one that cannot be removed again, and not without a pause", async () => {
  const expired = { workspaceId: "ws-1", lastActivityAt: 0, ttlSeconds: 1 } as StoredWorkspace;
  let attempts = 0;
  let isThere = true;
  const expiry = new Expiry({
    now: () => Date.now() / 1000,
    list: () => (isThere ? [expired] : []),
    isBusy: () => false,
    expire: () => {
      attempts += 1;
      if (attempts < 3) return Promise.reject(new Error("the engine is away"));
      isThere = false;
      return Promise.resolve();
    },
    log: silentLog,
  });
  expiry.schedule();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(attempts).toBe(1);
  await vi.advanceTimersByTimeAsync(300_000);
  expect(attempts).toBe(3);
  expiry.stop();
});
