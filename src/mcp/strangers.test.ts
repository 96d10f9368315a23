import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { Strangers } from "./strangers.ts";

describe("connections without a token (G-24)", () => {
  it("are so many at most, the oldest goes first, and who has shown the token stays", () => {
    const strangers = new Strangers(3);
    const sockets = Array.from({ length: 10 }, () => new Socket());
    for (const [at, socket] of sockets.entries()) {
      strangers.add(socket);
      if (at === 2) strangers.delete(socket);
      expect(strangers.count).toBeLessThanOrEqual(3);
    }
    expect(sockets.flatMap(({ destroyed }, at) => (destroyed ? [] : [at]))).toEqual([2, 7, 8, 9]);
  });
});
