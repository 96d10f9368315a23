import { expect, it } from "vitest";
import { requireLimits } from "./require-limits.ts";

const HOST = { processors: 2, memMib: 4000 };
const require = (limits: { vcpuCount?: number; memMib?: number }, smallestMemMib?: number) => () =>
  requireLimits(
    { name: "b", ...(smallestMemMib && { smallestMemMib }) },
    { vcpuCount: 1, memMib: 512, ...limits },
    HOST,
  );

it("takes limits up to what the host has", () => {
  expect(require({ vcpuCount: 2, memMib: 4000 })).not.toThrow();
  expect(require({ memMib: 64 })).not.toThrow();
  expect(require({ memMib: 128 }, 128)).not.toThrow();
});

it.each([
  [{ vcpuCount: 3 }, "A workspace cannot have 3 processors: this host has 2", /--vcpu-count .* 2 or less/],
  [{ memMib: 4001 }, "A workspace cannot have 4001 MiB of memory: this host has 4000 MiB", /--mem-mib .* 4000/],
  [{ memMib: 127 }, '127 MiB of memory are too few for a machine of backend "b"', /--mem-mib .* 128 or more/],
])("refuses %j with the host's numbers", (limits, message, hint) => {
  expect(require(limits, 128)).toThrow(
    expect.objectContaining({
      code: "INVALID_ARGUMENT",
      message,
      hint: expect.stringMatching(hint) as string,
    }) as Error,
  );
});
