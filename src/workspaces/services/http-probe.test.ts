import { describe, expect, it } from "vitest";
import { toLoopbackTarget } from "./http-probe.ts";

describe("toLoopbackTarget()", () => {
  it.each([
    ["http://127.0.0.1:8080/a?b=c#d", { port: 8080, host: "127.0.0.1:8080", path: "/a?b=c" }],
    ["http://localhost", { port: 80, host: "localhost", path: "/" }],
    ["http://[::1]:3000/x", { port: 3000, host: "[::1]:3000", path: "/x" }],
  ])("takes %s", (url, target) => {
    expect(toLoopbackTarget(url)).toEqual(target);
  });

  it.each([
    "http://192.0.2.1/",
    "http://127.0.0.1.example.com/",
    "http://localhost.example.com/",
    "http://127.0.0.2/",
    "http://0.0.0.0/",
    "https://127.0.0.1/",
    "http://user:word@127.0.0.1/",
    "http://127.0.0.1:0/",
    "http://127.0.0.1:65536/",
    "file:///etc/passwd",
    "localhost:80",
    "",
  ])("refuses %j", (url) => {
    expect(() => toLoopbackTarget(url)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }) as Error);
  });
});
