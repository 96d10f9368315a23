import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { IdleTimer } from "./idle-timer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("fires once nothing has changed for the whole time", () => {
  const onIdle = vi.fn();
  const timer = new IdleTimer(1000, () => false, onIdle);
  timer.changed();
  vi.advanceTimersByTime(900);
  timer.changed();
  vi.advanceTimersByTime(900);
  expect(onIdle).not.toHaveBeenCalled();
  vi.advanceTimersByTime(100);
  expect(onIdle).toHaveBeenCalledOnce();
});

it("does not fire while busy, nor when it became busy untold, and sets no timer then", () => {
  let busy = true;
  const onIdle = vi.fn();
  const timer = new IdleTimer(1000, () => busy, onIdle);
  timer.changed();
  expect(vi.getTimerCount()).toBe(0);
  busy = false;
  timer.changed();
  busy = true;
  vi.advanceTimersByTime(5000);
  expect(onIdle).not.toHaveBeenCalled();
});

it("never fires after stop", () => {
  const onIdle = vi.fn();
  const timer = new IdleTimer(1000, () => false, onIdle);
  timer.changed();
  timer.stop();
  timer.changed();
  vi.advanceTimersByTime(5000);
  expect(onIdle).not.toHaveBeenCalled();
});
