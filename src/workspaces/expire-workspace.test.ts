import { describe, expect, it } from "vitest";
import { workspace } from "../../test/helpers/stored-records.ts";
import { sinceClockWasSet, sinceNow } from "./expire-workspace.ts";

const uptime = (seconds: number, boot = "a") => ({ boot, seconds });
const expired = { at: 1000, graceSeconds: 3600, uptime: uptime(50) };

describe("a grace", () => {
  it("is not cut short by a clock that was set forward, also while no daemon ran", () => {
    expect(sinceClockWasSet(expired, 1_000_000, uptime(60))).toBe(1_000_000 - 10);
    expect(sinceClockWasSet(expired, 4700, uptime(3750))).toBe(1000);
    // The two clocks are not the same to the second.
    expect(sinceClockWasSet(expired, 4703, uptime(3750))).toBe(1000);
  });

  it("goes by the clock alone when the host was started anew, or does not tell", () => {
    expect(sinceClockWasSet(expired, 1_000_000, uptime(60, "b"))).toBe(1000);
    expect(sinceClockWasSet(expired, 1_000_000, null)).toBe(1000);
    expect(sinceClockWasSet({ ...expired, uptime: null }, 1_000_000, uptime(60))).toBe(1000);
  });
});

describe("a clock that was set back", () => {
  it("leaves nothing that happened later than now, or it would not be over for as long", () => {
    const stored = workspace("ws-a", { lastActivityAt: 1000 });
    expect(sinceNow(stored, 100)).toEqual({ lastActivityAt: 100 });
    expect(sinceNow(stored, 998)).toBeUndefined();
    expect(sinceNow(stored, 2000)).toBeUndefined();
    expect(sinceNow({ ...stored, expired }, 100)).toMatchObject({ expired: { at: 100, graceSeconds: 3600 } });
    expect(sinceNow({ ...stored, expired: { ...expired, at: 50 } }, 100)).toBeUndefined();
  });
});
