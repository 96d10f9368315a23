import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { silentLog } from "../base/log.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { workspace } from "../../test/helpers/stored-records.ts";
import { dueAt, Expiry, type ExpiryOptions } from "./expiry.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const now = () => Date.now() / 1000;

function watch(stored: StoredWorkspace, expire: (attempt: number) => ReturnType<ExpiryOptions["expire"]>) {
  const seen = { attempts: 0, isThere: true };
  const expiry = new Expiry({
    now,
    list: () => (seen.isThere ? [stored] : []),
    expire: () => expire((seen.attempts += 1)),
    log: silentLog,
  });
  expiry.schedule();
  return { seen, expiry };
}

it("tries one that cannot be ended again, and not without a pause", async () => {
  const over = workspace("ws-1", { lastActivityAt: 0, ttlSeconds: 1 });
  const { seen, expiry } = watch(over, (attempt) => {
    if (attempt < 3) return Promise.reject(new Error("the engine is away"));
    seen.isThere = false;
    return Promise.resolve("done");
  });
  await vi.advanceTimersByTimeAsync(30_000);
  expect(seen.attempts).toBe(1);
  await vi.advanceTimersByTimeAsync(300_000);
  expect(seen.attempts).toBe(3);
  expiry.stop();
});

it("looks at one that is busy again after a pause, also when the clock was set back meanwhile", async () => {
  const over = workspace("ws-1", { lastActivityAt: 0, ttlSeconds: 10 });
  const { seen, expiry } = watch(over, () => Promise.resolve("busy"));
  await vi.advanceTimersByTimeAsync(9000);
  expect(seen.attempts).toBe(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(seen.attempts).toBe(2);
  vi.setSystemTime(Date.now() - 500_000);
  await vi.advanceTimersByTimeAsync(61_000);
  expect(seen.attempts).toBeGreaterThan(2);
  expiry.stop();
});

it("leaves one alone that is kept, and one that has expired until its grace is over", () => {
  const stored = workspace("ws-1", { lastActivityAt: 100, ttlSeconds: 10 });
  const expired = { at: 120, graceSeconds: 1000, uptime: null };
  expect(dueAt(stored)).toBe(110);
  expect(dueAt({ ...stored, expired })).toBe(1120);
  expect(dueAt({ ...stored, keep: true })).toBe(Infinity);
  expect(dueAt({ ...stored, expired, keep: true })).toBe(Infinity);
});
