import fc from "fast-check";
import { expect, it } from "vitest";
import { addressClass } from "./address-class.ts";

it.each([
  ["127.0.0.1", "loopback"],
  ["127.255.255.254", "loopback"],
  ["::1", "loopback"],
  ["::ffff:127.0.0.1", "loopback"],
  ["::ffff:7f00:1", "loopback"],
  ["0:0:0:0:0:FFFF:7f00:0001", "loopback"],
  ["64:ff9b::7f00:1", "loopback"],
  ["64:ff9b::10.0.0.1", "private"],
  ["0.0.0.0", "unspecified"],
  ["::", "unspecified"],
  ["::127.0.0.1", "translated"],
  ["10.1.2.3", "private"],
  ["172.31.0.1", "private"],
  ["192.168.1.1", "private"],
  ["100.64.0.1", "shared"],
  ["100.127.255.255", "shared"],
  ["169.254.1.1", "link-local"],
  ["169.254.169.254", "metadata"],
  ["::ffff:169.254.169.254", "metadata"],
  ["fd00:ec2::254", "metadata"],
  ["fe80::1", "link-local"],
  ["fe80::1%eth0", "link-local"],
  ["fc00::1", "private"],
  ["fdff::1", "private"],
  ["224.0.0.1", "multicast"],
  ["ff02::1", "multicast"],
  ["255.255.255.255", "reserved"],
  ["198.18.0.1", "reserved"],
  ["2002:7f00:1::", "translated"],
  ["2001::1", "reserved"],
  ["64:ff9b:1::1", "translated"],
  ["localhost", "no address"],
  ["2130706433", "no address"],
] as const)("G-36 takes %s for what it is: %s", (address, kind) => {
  expect(addressClass(address)).toBe(kind);
});

it.each(["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::1.1.1.1", "::ffff:8.8.8.8"])(
  "lets %s pass",
  (address) => {
    expect(addressClass(address)).toBeUndefined();
  },
);

it("G-36 sees through every way to write an address of the old family as one of the new", () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const parts = address.split(".").map(Number);
      const hex = [0, 2].map((at) => (((parts[at] ?? 0) << 8) | (parts[at + 1] ?? 0)).toString(16)).join(":");
      for (const form of [`::ffff:${address}`, `::ffff:${hex}`, `64:ff9b::${hex}`, `0:0:0:0:0:ffff:${hex}`])
        expect(addressClass(form)).toBe(addressClass(address));
    }),
  );
});
