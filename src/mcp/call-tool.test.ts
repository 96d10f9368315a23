import { expect, it } from "vitest";
import { failure } from "../model/error-codes.ts";
import { errorResult } from "./call-tool.ts";

const hintOf = (hint: string): unknown =>
  (errorResult(failure("INVALID_ARGUMENT", "No", { hint })).structuredContent["error"] as { hint: string }).hint;

it("a hint names tools and their arguments, and leaves other command lines alone", () => {
  expect(hintOf("Give --mem-mib (limits.mem_mib in config.yaml) of 128 or more")).toBe(
    "Give mem_mib (limits.mem_mib in config.yaml) of 128 or more",
  );
  expect(hintOf("Start it with `cloche workspace start ws-1`")).toBe("Start it with `workspace_start`");
  for (const other of ["See `cloche env pull debian:12 --json`", "Run it with docker run --security-opt x=y"])
    expect(hintOf(other)).toBe(other);
});
