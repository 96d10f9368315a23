import { duplexPair } from "node:stream";
import { describe, expect, it } from "vitest";
import { routeFor } from "../../../test/helpers/egress-proxy.ts";
import { EgressEvents } from "./egress-events.ts";
import { HostAddresses } from "./host-addresses.ts";
import { Names } from "./names.ts";
import { PolicyInForce } from "./policy-in-force.ts";

const order = (...hosts: string[]) => ({
  log: "all" as const,
  routes: hosts.map((host) => routeFor(host)),
  guarded: [{ kind: "known_secrets" as const, name: "TOKEN", value: "sec-4f9d1c70b2e84ac6" }],
  way_out: { proxy: null, ca: null },
});

function namesFor(...hosts: string[]) {
  const events = new EgressEvents(() => undefined);
  const at = { policy: new PolicyInForce(order(...hosts)) };
  const names = new Names({ policy: () => at.policy, events });
  names.renew();
  return { names, events, at };
}

const query = (name: string): Buffer =>
  Buffer.concat([
    Buffer.from([0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
    ...name.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0, 0, 1, 0, 1]),
  ]);
const addressIn = (answer: Buffer | undefined) =>
  answer?.readUInt16BE(6) === 1 ? [...answer.subarray(-4)].join(".") : undefined;

describe("names in a sandbox", () => {
  it("G-43 are those of the policy in force, each with an address that leads back to it", () => {
    const { names, at } = namesFor("one.example.test", "*.below.example.test");
    const address = (name: string) => addressIn(names.answer(query(name)));
    const one = address("ONE.example.test") ?? "";
    const below = address("a.b.below.example.test") ?? "";
    expect([one, below].every((each) => each.startsWith("127."))).toBe(true);
    expect(names.hostAt(one, undefined)).toBe("one.example.test");
    expect(names.hostAt(below, undefined)).toBe("a.b.below.example.test");
    for (const name of [
      "two.example.test",
      "below.example.test",
      "localhost",
      "127.0.0.1",
      "example",
      "x.one.example.test",
    ])
      expect(address(name), name).toBeUndefined();
    at.policy = new PolicyInForce(order("two.example.test"));
    names.renew();
    expect(address("one.example.test")).toBeUndefined();
    expect(address("two.example.test")).toBeDefined();
  });

  it("have the same address for every gate, and an address that a gate does not know is known by its handshake", () => {
    const before = namesFor("*.below.example.test").names;
    const after = namesFor("*.below.example.test").names;
    const address = addressIn(before.answer(query("a.below.example.test"))) ?? "";
    expect(after.hostAt(address, undefined)).toBeUndefined();
    expect(after.hostAt(address, "A.below.example.test")).toBe("a.below.example.test");
    expect(after.hostAt(address, "b.below.example.test")).toBeUndefined();
  });

  it("G-43 may be asked for without end", () => {
    const addresses = new HostAddresses();
    addresses.list(["listed.example.test"]);
    const listed = addresses.addressOf("listed.example.test");
    const first = addresses.addressOf("n0.example.test");
    for (let count = 1; count < 10_000; count++) addresses.addressOf(`n${count}.example.test`);
    expect(addresses.hostAt(listed, undefined)).toBe("listed.example.test");
    expect(addresses.hostAt(first, undefined)).not.toBe("n0.example.test");
    const last = addresses.addressOf("n9999.example.test");
    expect(addresses.hostAt(last, undefined)).toBe("n9999.example.test");
  });

  it("tell of one that is not listed once, without what must not be repeated", () => {
    const { names, events } = namesFor("one.example.test");
    for (let times = 0; times < 3; times++) names.answer(query("sec-4f9d1c70b2e84ac6.example.test"));
    const { events: told = [] } = events.after(0, 10) ?? {};
    expect(told).toMatchObject([{ kind: "egress.denied", method: "RESOLVE", code: "EGRESS_DENIED" }]);
    expect(JSON.stringify(told)).not.toContain("4f9d1c70b2e84ac6");
  });

  it("are asked for over a connection too, however it is cut", async () => {
    const { names } = namesFor("one.example.test");
    const [sandbox, gate] = duplexPair();
    names.serve(gate);
    const framed = Buffer.concat([Buffer.from([0, query("one.example.test").length]), query("one.example.test")]);
    for (const byte of [...framed, ...framed]) sandbox.write(Buffer.from([byte]));
    sandbox.end();
    const parts: Buffer[] = [];
    for await (const part of sandbox) parts.push(part as Buffer);
    const all = Buffer.concat(parts);
    const size = all.readUInt16BE(0);
    expect(all.length).toBe(2 * (2 + size));
    expect(addressIn(all.subarray(2, 2 + size))).toMatch(/^127\./);
  });

  it("G-43 end a connection that sends what is no question, at once", async () => {
    const { names } = namesFor();
    for (const bytes of [Buffer.from([0, 5, 1, 2, 3, 4, 5]), Buffer.from([0xff, 0xff, 1])]) {
      const [sandbox, gate] = duplexPair();
      names.serve(gate);
      sandbox.write(bytes);
      await soon();
      expect(gate.destroyed).toBe(true);
    }
  });

  it("G-43 end a connection of one who asks without end and takes no answers", async () => {
    const { names } = namesFor("one.example.test");
    const [sandbox, gate] = duplexPair();
    names.serve(gate);
    const asked = query("one.example.test");
    const framed = Buffer.concat([Buffer.from([0, asked.length]), asked]);
    for (let count = 0; count < 5000 && !gate.destroyed; count++) {
      sandbox.write(framed);
      if (count % 100 === 0) await soon();
    }
    await soon();
    expect([gate.destroyed, gate.writableLength < 128 * 1024]).toEqual([true, true]);
  });
});

/** When all that is under way in this process has come. */
const soon = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((done) => setImmediate(done));
};
