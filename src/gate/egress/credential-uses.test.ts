import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CredentialEvent } from "../../model/gate-control.ts";
import { CredentialUses } from "./credential-uses.ts";

describe("CredentialUses", () => {
  let told: CredentialEvent[];
  let uses: CredentialUses;
  const counts = () =>
    told.map(({ host, port, credentials, requests }) => [`${host}:${port}`, ...credentials, requests]);
  beforeEach(() => {
    vi.useFakeTimers();
    told = [];
    uses = new CredentialUses((event) => void told.push(event));
  });
  afterEach(() => void vi.useRealTimers());

  it("G-113 tells of the first use at once, and of the same ones after it with their number", () => {
    for (let count = 0; count < 100; count++) uses.add(["API"], "one.example.test", 443);
    expect(counts()).toEqual([["one.example.test:443", "API", 1]]);
    vi.advanceTimersByTime(1000);
    expect(counts().slice(1)).toEqual([["one.example.test:443", "API", 99]]);
    expect(told[0]).toEqual({
      kind: "credential.used",
      credentials: ["API"],
      host: "one.example.test",
      port: 443,
      requests: 1,
    });
  });

  it("G-113 counts each host, port and credential by itself", () => {
    for (let round = 0; round < 3; round++) {
      uses.add(["API"], "one.example.test", 443);
      uses.add(["API"], "one.example.test", 8443);
      uses.add(["API"], "two.example.test", 443);
      uses.add(["API", "OTHER"], "one.example.test", 443);
    }
    uses.tellAll();
    expect(counts().map((one) => one.at(-1))).toEqual([1, 1, 1, 1, 2, 2, 2, 2]);
  });

  it("G-113 tells what was counted when it is asked to, and nothing twice", () => {
    uses.add(["API"], "one.example.test", 443);
    uses.add(["API"], "one.example.test", 443);
    uses.tellAll();
    uses.tellAll();
    vi.advanceTimersByTime(10_000);
    expect(counts().map((one) => one.at(-1))).toEqual([1, 1]);
  });

  it("begins anew after a while without any, and waits for nothing then", () => {
    uses.add(["API"], "one.example.test", 443);
    vi.advanceTimersByTime(1000);
    expect(vi.getTimerCount()).toBe(0);
    uses.add(["API"], "one.example.test", 443);
    expect(counts().map((one) => one.at(-1))).toEqual([1, 1]);
  });

  it("G-113 keeps no count for hosts without end, and tells of each all the same", () => {
    for (let round = 0; round < 2; round++)
      for (let host = 0; host < 100; host++) uses.add(["API"], `${host}.example.test`, 443);
    uses.tellAll();
    const sum = told.reduce((all, { requests }) => all + requests, 0);
    expect([sum, told.length]).toEqual([200, 200]);
  });
});
