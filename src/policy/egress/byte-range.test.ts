import { expect, it } from "vitest";
import { isReadableRange } from "./byte-range.ts";

it("G-183 takes one part of an answer, that is large enough to know a credential in", () => {
  for (const range of ["bytes=0-63", "bytes=7-", "bytes=-64", "bytes=100-1000000"])
    expect([range, isReadableRange(range)]).toEqual([range, true]);
  for (const range of [
    "bytes=0-5",
    "bytes=-5",
    "bytes=-",
    "bytes=0-62",
    "bytes=9-3",
    "bytes=0-99,5-9",
    "bytes=0-99, bytes=5-9",
    "items=0-99",
    "BYTES=0-99",
    "",
  ])
    expect([range, isReadableRange(range)]).toEqual([range, false]);
});
