import { expect, it } from "vitest";
import { MAX_PAYLOAD_BYTES, shorten } from "./shorten.ts";

it("leaves what is of an ordinary size as it is", () => {
  const payload = { command: ["npm", "test"], cwd: "/workspace", files: [{ path: "/workspace/a", status: "added" }] };
  expect(shorten(payload)).toEqual({ payload, truncated: false });
});

it("cuts texts and lists, says so, and never inside a character", () => {
  const { payload, truncated } = shorten({ command: `${"x".repeat(1998)}\u{1f600}\u{1f600}`, exit_code: 3 });
  expect(truncated).toBe(true);
  expect(payload).toEqual({ command: `${"x".repeat(1998)}…`, exit_code: 3 });
  expect(shorten({ refs: Array.from({ length: 101 }, () => "r".repeat(30)) })).toMatchObject({ truncated: true });
});

it.each([
  ["a command of 128 KiB", { command: "\u{1f600}".repeat(32_768) }],
  ["a command of control characters", { command: Array.from({ length: 5000 }, () => "\u0001".repeat(200)) }],
  [
    "a patch of long names",
    { files: Array.from({ length: 100 }, () => ({ path: "\u0001".repeat(4096), status: "added" })) },
  ],
  [
    "labels without end",
    {
      labels: Object.fromEntries(
        Array.from({ length: 5000 }, (_, n) => [`${n}${"k".repeat(300)}`, "\u0001".repeat(300)]),
      ),
    },
  ],
])("makes an event of %s that fits", (_name, payload) => {
  const short = shorten(payload);
  expect(short.truncated).toBe(true);
  expect(Buffer.byteLength(JSON.stringify(short.payload))).toBeLessThanOrEqual(MAX_PAYLOAD_BYTES);
});
