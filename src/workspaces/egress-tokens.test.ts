import { afterEach, describe, expect, it, vi } from "vitest";
import { silentLog } from "../base/log.ts";
import type { Egress } from "../model/egress.ts";
import { authsOf, credentialName } from "../policy/egress/gate-routes.ts";
import { EgressTokens } from "./egress-tokens.ts";

const BY_COMMAND: Egress = {
  routes: [{ host: "a.example", auth: { scheme: "Bearer", token_command: ["get", "it"] } }],
};
const NAME = BY_COMMAND.routes?.flatMap(authsOf).map(credentialName)[0] ?? "";

/** A command that is played: each run gives the next answer, and the last one again. */
function tokensWith(answers: (string | Error)[], expiresInSeconds: number | null = null) {
  const runs: number[] = [];
  const changed: string[] = [];
  const tokens = new EgressTokens({
    clock: { now: () => Date.now() / 1000 },
    log: silentLog,
    run: () => {
      runs.push(Date.now());
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      return answer instanceof Error
        ? Promise.reject(answer)
        : Promise.resolve({ token: answer ?? "", expiresInSeconds });
    },
  });
  tokens.onChanged = (id) => changed.push(id);
  return { tokens, runs, changed };
}

describe("tokens of gates", () => {
  afterEach(() => void vi.useRealTimers());

  it("G-55 names a variable that is not set, and nothing else", async () => {
    const { tokens } = tokensWith(["x"]);
    const egress: Egress = {
      routes: [
        { host: "a.example", auth: { scheme: "Bearer", token_ref: "SET" } },
        { host: "b.example", auth: { scheme: "Bearer", token_ref: "NOT_SET" } },
      ],
    };
    const error = (await tokens.fetch(egress, { SET: "value-of-set" }).catch((one: unknown) => one)) as Error;
    expect(error).toMatchObject({ code: "TOKEN_UNAVAILABLE" });
    expect(error.message).toContain("NOT_SET");
    expect(JSON.stringify([error.message, error])).not.toContain("value-of-set");
    const broken = (await tokens
      .fetch(egress, { SET: "x", NOT_SET: "two\nlines" })
      .catch((one: unknown) => one)) as Error;
    expect(broken.message).toContain("NOT_SET holds");
    expect(JSON.stringify([broken.message, broken])).not.toContain("two");
    await expect(tokens.fetch(egress, { SET: "x", NOT_SET: "" })).rejects.toThrow(/NOT_SET is not set/);
  });

  it("are had anew before their time is over, and the gate is told", async () => {
    vi.useFakeTimers();
    const { tokens, runs, changed } = tokensWith(["one", "two"], 600);
    tokens.give("w", await tokens.fetch(BY_COMMAND, {}));
    expect(tokens.stateOf("w", NAME)).toEqual({ token: "one", problem: null });
    await vi.advanceTimersByTimeAsync(535_000);
    expect(runs).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(tokens.stateOf("w", NAME).token).toBe("two");
    expect(changed).toEqual(["w"]);
    tokens.forget("w");
    await vi.advanceTimersByTimeAsync(10_000_000);
    expect(runs).toHaveLength(2);
  });

  it("G-57 are had anew when an upstream does not take one, and not all the time", async () => {
    vi.useFakeTimers();
    const { tokens, runs } = tokensWith(["one"]);
    tokens.give("w", await tokens.fetch(BY_COMMAND, {}));
    for (let second = 0; second < 600; second++) {
      tokens.want("w", BY_COMMAND, [NAME]);
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(runs.length).toBeGreaterThan(5);
    expect(runs.length).toBeLessThan(12);
    expect((runs[1] ?? 0) - (runs[0] ?? 0)).toBeLessThan(2000);
  });

  it("are used on while they have time, and refused with the reason when they have none", async () => {
    vi.useFakeTimers();
    const { tokens, changed } = tokensWith(["one", new Error("it is down")], 600);
    tokens.give("w", await tokens.fetch(BY_COMMAND, {}));
    await vi.advanceTimersByTimeAsync(560_000);
    expect(tokens.stateOf("w", NAME)).toEqual({ token: "one", problem: null });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(tokens.stateOf("w", NAME)).toEqual({ token: null, problem: "it is down" });
    expect(changed.length).toBeGreaterThan(0);
  });

  it("are a fork's too, and of a daemon that was started again come when they are wanted", async () => {
    vi.useFakeTimers();
    const { tokens } = tokensWith(["one", "two", "three"]);
    tokens.give("w", await tokens.fetch(BY_COMMAND, {}));
    tokens.give("fork", tokens.copyOf("w") ?? new Map());
    tokens.want("fork", BY_COMMAND, [NAME]);
    await vi.advanceTimersByTimeAsync(10);
    expect([tokens.stateOf("w", NAME).token, tokens.stateOf("fork", NAME).token]).toEqual(["one", "two"]);
    expect(tokens.stateOf("unknown", NAME)).toEqual({ token: null, problem: null });
    tokens.want("unknown", BY_COMMAND, [NAME, "another"]);
    await vi.advanceTimersByTimeAsync(10);
    expect(tokens.stateOf("unknown", NAME).token).toBe("three");
  });
});
