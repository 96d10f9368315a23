import { expect, it } from "vitest";
import { groupToUse } from "./kvm-device.ts";

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
