import { expect, it } from "vitest";
import { formatAge, formatElapsed, formatTime, formatUntil } from "./duration.ts";

it.each([
  [-3, "0s"],
  [59.9, "59s"],
  [60, "1m"],
  [7199, "1h"],
  [86_400 * 9, "9d"],
])("formatAge(%d) is %s", (seconds, text) => {
  expect(formatAge(seconds)).toBe(text);
});

it("formatUntil says now for what is over", () => {
  expect([formatUntil(0), formatUntil(3599)]).toEqual(["now", "in 59m"]);
});

it("formatElapsed changes from milliseconds to seconds", () => {
  expect([formatElapsed(11.6), formatElapsed(999), formatElapsed(1449)]).toEqual(["12 ms", "999 ms", "1.4 s"]);
});

it("formatTime is local time", () => {
  expect(formatTime(new Date(2026, 0, 2, 3, 4, 5).getTime() / 1000)).toBe("2026-01-02 03:04:05");
});
