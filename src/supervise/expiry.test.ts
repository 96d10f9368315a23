import { afterEach, expect, it, vi } from "vitest";
import { PROPOSAL_SECONDS } from "../model/proposal-kinds.ts";
import { Expiry } from "./expiry.ts";

afterEach(() => vi.useRealTimers());

function make() {
  const clock = { now: 1000, monotonic: 0 };
  const due: string[] = [];
  const expiry = new Expiry({ now: () => clock.now, monotonic: () => clock.monotonic, onDue: (id) => due.push(id) });
  return { clock, due, expiry };
}

it("tells of each once, when its time is over", () => {
  const { clock, due, expiry } = make();
  expiry.add("a", 1010);
  expiry.add("b", 1020);
  clock.now = 1011;
  expiry.check();
  expiry.check();
  expect(due).toEqual(["a"]);
  expiry.remove("b");
  clock.now = 2000;
  expiry.check();
  expect(due).toEqual(["a"]);
  expiry.close();
});

it("G-100: is over by the clock that nobody sets, also when the other was set back, and never later than its whole time", () => {
  const { clock, due, expiry } = make();
  expiry.add("a", 1010);
  expiry.add("b", 1000 + PROPOSAL_SECONDS * 100);
  clock.now = -1_000_000;
  clock.monotonic = 11;
  expiry.check();
  expect(due).toEqual(["a"]);
  clock.monotonic = PROPOSAL_SECONDS + 1;
  expiry.check();
  expect(due).toEqual(["a", "b"]);
  expiry.close();
});

it("tells by itself", () => {
  vi.useFakeTimers();
  const { clock, due, expiry } = make();
  expiry.add("a", 1005);
  clock.now = 1005;
  clock.monotonic = 5;
  vi.advanceTimersByTime(5000);
  expect(due).toEqual(["a"]);
  expiry.close();
});
