import { expect, it } from "vitest";
import { Demand, REMEMBERED_MS } from "./demand.ts";

const asked = (...times: number[]): Demand => {
  const demand = new Demand();
  for (const time of times) demand.asked(time);
  return demand;
};

it("is one for those who come one by one, and as many as come at once", () => {
  expect(new Demand().most(0)).toBe(0);
  expect(asked(0, 5000, 10_000).most(10_000)).toBe(1);
  expect(asked(0, 1000, 1999).most(2000)).toBe(3);
  expect(asked(0, 1000, 2000, 3000).most(3000)).toBe(2);
  expect(asked(0, 1, 2, 30_000).most(30_000)).toBe(3);
});

it("is forgotten after a while", () => {
  expect(asked(0, 1, 2).most(REMEMBERED_MS - 1)).toBe(3);
  expect(asked(0, 1, 2).most(REMEMBERED_MS + 1)).toBe(1);
  expect(asked(0, 1, 2).most(REMEMBERED_MS + 2)).toBe(0);
});
