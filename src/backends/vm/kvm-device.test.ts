import { expect, it } from "vitest";
import { groupToUse, isRootsAlone } from "./kvm-device.ts";

it("an emulator keeps the group of the device where only the group may use it", () => {
  expect(groupToUse({ mode: 0o20660, gid: 104 })).toBe(104);
});

it("and no group where everybody may, where only root may, or where it would be root's", () => {
  expect([0o20666, 0o20600, 0o20640].map((mode) => groupToUse({ mode, gid: 104 }))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(groupToUse({ mode: 0o20660, gid: 0 })).toBeUndefined();
});

it("a device that is root's alone is none for an emulator that root starts", () => {
  const devices = [
    { mode: 0o20600, gid: 104 },
    { mode: 0o20660, gid: 0 },
    { mode: 0o20660, gid: 104 },
    { mode: 0o20666, gid: 0 },
  ];
  expect(devices.map(isRootsAlone)).toEqual([true, true, false, false]);
});
