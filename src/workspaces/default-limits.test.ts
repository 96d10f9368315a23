import { expect, it } from "vitest";
import { defaultLimits } from "./default-limits.ts";
import { hostSize } from "./host-size.ts";

const gib = (count: number) => count * 1024;
const of = async (processors: number, memMib: number, backend: Parameters<typeof defaultLimits>[0]) => {
  const { vcpuCount, memMib: chosen, pids } = await defaultLimits(backend, {}, {}, { processors, memMib });
  return [vcpuCount, chosen, pids];
};

it.each([
  [1, 512, [1, 512, 512]],
  [1, gib(2), [1, gib(2), 512]],
  [2, gib(6), [2, gib(4), 512]],
  [2, gib(8), [2, gib(4), 512]],
  [16, gib(64), [16, gib(32), 2048]],
])(
  "processes on a host of %i processors and %i MiB: all processors, half of the memory, 4 GiB if there are",
  async (cpus, mib, wanted) => {
    expect(await of(cpus, mib, {})).toEqual(wanted);
  },
);

it.each([
  [1, 512, [1, 256, 512]],
  [2, gib(8), [2, gib(4), 512]],
  [2, gib(24), [2, gib(4), 512]],
  [16, gib(48), [16, gib(6), 2048]],
  [64, gib(256), [64, gib(8), 2048]],
])("a machine on a host of %i processors and %i MiB: less memory, which it keeps", async (cpus, mib, wanted) => {
  expect(await of(cpus, mib, { isMachine: true })).toEqual(wanted);
});

it("an emulated machine has one processor, unless config.yaml says how many; then nobody asks", async () => {
  const emulated = { isMachine: true, isEmulated: () => Promise.resolve(true) };
  expect(await of(4, gib(8), emulated)).toEqual([1, gib(4), 512]);
  const unasked = { isEmulated: () => Promise.reject(new Error("asked")) };
  expect((await defaultLimits(unasked, { limits: { vcpu_count: 3 } })).vcpuCount).toBe(3);
});

it("what config.yaml says comes first, one by one", async () => {
  const host = { processors: 4, memMib: gib(16) };
  expect(await defaultLimits({}, { limits: { mem_mib: 1000 } }, {}, host)).toMatchObject({
    vcpuCount: 4,
    memMib: 1000,
  });
  const both = { vcpu_count: 1, pids: 64 };
  expect(await defaultLimits({}, { limits: both }, {}, host)).toMatchObject({ vcpuCount: 1, pids: 64 });
});

it("fits this host", async () => {
  const { vcpuCount, memMib } = await defaultLimits({}, {});
  expect(vcpuCount).toBeLessThanOrEqual(hostSize().processors);
  expect(memMib).toBeLessThanOrEqual(hostSize().memMib);
  expect(Math.min(vcpuCount, memMib)).toBeGreaterThan(0);
});
