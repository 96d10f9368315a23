import { describe, expect, it } from "vitest";
import { failure } from "../model/error-codes.ts";
import { unavailable } from "./unavailable.ts";

describe("unavailable()", () => {
  it("passes on the hint of an error that has one", () => {
    const error = failure("BACKEND_UNAVAILABLE", "No engine answers", { hint: "Start one" });
    expect(unavailable(error, "See a log")).toEqual({
      available: false,
      detail: "No engine answers",
      hint: "Start one",
    });
  });

  it("names a log for any other error", () => {
    expect(unavailable(new Error("gone"))).toMatchObject({ detail: "gone", hint: "See daemon.log in the cloche home" });
    expect(unavailable("gone", "See a log")).toMatchObject({ detail: "gone", hint: "See a log" });
  });
});
