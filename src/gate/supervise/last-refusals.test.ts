import { expect, it } from "vitest";
import { LastRefusals } from "./last-refusals.ts";

const refusal = (host: string, path = "/") => ({ method: "GET", host, port: 443, path });

it("names the newest refusal of a host that is asked for, also by a pattern, and none of another", () => {
  const refusals = new LastRefusals();
  for (const [host, path] of [
    ["a.test", "/one"],
    ["b.test", "/"],
    ["a.test", "/two"],
    ["deep.a.test", "/x"],
  ] as const)
    refusals.add(refusal(host, path));
  expect(refusals.causeOf([{ host: "a.test" }])).toBe("GET a.test:443/two, which was refused");
  expect(refusals.causeOf([{ host: "c.test" }, { host: "b.test" }])).toBe("GET b.test:443/, which was refused");
  expect(refusals.causeOf([{ host: "*.a.test" }])).toBe("GET deep.a.test:443/x, which was refused");
  expect(refusals.causeOf([{ host: "c.test" }])).toBeNull();
  refusals.add({ method: "RESOLVE", host: "c.test", port: 0, path: "" });
  expect(refusals.causeOf([{ host: "c.test" }])).toBe("RESOLVE c.test, which was refused");
});

it("G-124: remembers some hosts, the newest, and of each no more than a line", () => {
  const refusals = new LastRefusals();
  for (let nth = 0; nth < 1000; nth++) refusals.add(refusal(`h${nth}.test`, "/".repeat(100_000)));
  expect(refusals.causeOf([{ host: "h0.test" }])).toBeNull();
  expect(refusals.causeOf([{ host: "h744.test" }])).not.toBeNull();
  expect(refusals.causeOf([{ host: "h743.test" }])).toBeNull();
  expect(refusals.causeOf([{ host: "h999.test" }])?.length).toBeLessThan(2000);
});
