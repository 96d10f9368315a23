import { expect, it } from "vitest";
import { findSimilar } from "./suggest.ts";

const NAMES = ["workspace", "env", "run", "doctor", "demo", "--json", "--seed-path"];

it.each([
  ["workspce", "workspace"],
  ["wrokspace", "workspace"],
  ["rnu", "run"],
  ["dcotor", "doctor"],
  ["--jsno", "--json"],
  ["--seedpath", "--seed-path"],
  ["works", "workspace"],
])("findSimilar takes %s for %s", (typed, meant) => {
  expect(findSimilar(typed, NAMES)).toBe(meant);
});

it.each(["banana", "x", "", "--frobnicate"])("findSimilar has no guess for %j", (typed) => {
  expect(findSimilar(typed, NAMES)).toBeUndefined();
});
