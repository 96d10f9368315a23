import { expect, it } from "vitest";
import { BadValue } from "./bad-value.ts";
import {
  parseCount,
  parseLabel,
  parsePort,
  parsePublication,
  parseSecret,
  parseSecretEnv,
  parseSecretFile,
  parseSeconds,
  toRecord,
} from "./option-values.ts";

it("times are seconds, or have a unit", () => {
  expect(["600", "0.5", "90s", "10m", "1.5h", "2d"].map(parseSeconds)).toEqual([600, 0.5, 90, 600, 5400, 172_800]);
});

it("numbers are plain decimals above zero", () => {
  expect(parseCount("2")).toBe(2);
  for (const text of ["soon", "", "-1", "0", "0.0", "0m", "1e3", "0x10", " 1", "1 s", "1w", "m", "1h30m", "Infinity"]) {
    expect(() => parseSeconds(text), text).toThrow(BadValue);
  }
  for (const text of ["1.5", "0", "", "99999999999999999999", "+1"])
    expect(() => parseCount(text), text).toThrow(BadValue);
});

it("a label keeps everything after the first equals sign", () => {
  expect(toRecord([parseLabel("a=b=c"), parseLabel("empty=")])).toEqual({ a: "b=c", empty: "" });
});

it.each(["without-equals", "=v", "-bad=1", ".a=1", "a b=1", `${"k".repeat(65)}=1`])("parseLabel refuses %j", (text) => {
  expect(() => parseLabel(text)).toThrow(BadValue);
});

it("secrets are checked by name and never shown", () => {
  expect(parseSecret("TOKEN=a=b")).toEqual({ name: "TOKEN", value: "a=b" });
  expect(parseSecretFile("TOKEN=/x")).toEqual({ name: "TOKEN", value: "/x" });
  expect([parseSecretEnv("TOKEN"), parseSecretEnv("TOKEN=T2")]).toEqual([
    { name: "TOKEN", value: "TOKEN" },
    { name: "TOKEN", value: "T2" },
  ]);
  for (const refused of [
    () => parseSecret("1BAD=hush"),
    () => parseSecret("hush"),
    () => parseSecretEnv("A=1B"),
    () => parseSecretFile("A="),
  ]) {
    expect(refused).toThrow(BadValue);
    expect(refused).not.toThrow(/hush/);
  }
});

it("ports are whole numbers in range, and 0 only where it chooses one", () => {
  expect([parsePort("1"), parsePort("65535")]).toEqual([1, 65_535]);
  expect(parsePublication("8080")).toEqual({ guest_port: 8080 });
  expect(parsePublication("0:8080")).toEqual({ guest_port: 8080, host_port: 0 });
  for (const text of ["0", "65536", "", "-1", "1.5", "http"]) expect(() => parsePort(text), text).toThrow(BadValue);
  for (const text of ["0", "1:", ":1", "1:2:3", "70000:1", "127.0.0.1:1"])
    expect(() => parsePublication(text), text).toThrow(BadValue);
});
