import { expect, it } from "vitest";
import { routeFor } from "../../../test/helpers/egress-proxy.ts";
import { PolicyInForce } from "./policy-in-force.ts";

it("G-28 remembers what was sent to a bounded number of hosts, and forgets the one that was asked longest ago", () => {
  const policy = new PolicyInForce({
    log: "all",
    routes: [routeFor("*.many.example.test")],
    guarded: [],
    way_out: { proxy: null, ca: null },
  });
  const memory = (number: number) => {
    const host = `n${number}.many.example.test`;
    const scan = policy.find(host, 443)?.outbound;
    if (!scan) throw new Error("nobody looks");
    return policy.memory(host, scan);
  };
  const [first, second] = [memory(0), memory(1)];
  for (let number = 2; number < 64; number++) memory(number);
  expect(memory(0)).toBe(first);
  memory(64);
  expect(memory(0)).toBe(first);
  expect(memory(1)).not.toBe(second);
});
