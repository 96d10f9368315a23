import { expect, it } from "vitest";
import { formatBytes } from "./bytes.ts";

it.each([
  [0, "0 B"],
  [1023, "1023 B"],
  [1536, "1.5 KiB"],
  [240 * 1024 * 1024, "240 MiB"],
  [2 ** 31, "2.0 GiB"],
  [2 ** 52, "4096 TiB"],
])("formatBytes(%d) is %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
