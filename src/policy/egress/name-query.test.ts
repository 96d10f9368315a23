import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answerNameQuery } from "./name-query.ts";

const A = 1;
const AAAA = 28;

function query(name: string, type = A, { flags = 0x0100, kind = 1, questions = 1 } = {}): Buffer {
  const head = Buffer.from([0xab, 0xcd, 0, 0, 0, questions, 0, 0, 0, 0, 0, 0]);
  head.writeUInt16BE(flags, 2);
  const labels = name.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  return Buffer.concat([head, ...labels, Buffer.from([0, 0, type, 0, kind])]);
}

const lookUp = (name: string) => (name.toLowerCase() === "listed.example.test" ? "127.64.1.2" : undefined);
const ask = (bytes: Buffer) => answerNameQuery(bytes, lookUp);
const codeOf = (answer: Buffer | undefined) => (answer ? answer.readUInt16BE(2) & 0xf : undefined);
const answersIn = (answer: Buffer | undefined) => answer?.readUInt16BE(6);

describe("a query about a name", () => {
  it("gets the address of one that is listed, in the spelling that it was asked in", () => {
    const answer = ask(query("Listed.Example.test"));
    expect(answer?.subarray(0, 2).toString("hex")).toBe("abcd");
    expect([codeOf(answer), answersIn(answer)]).toEqual([0, 1]);
    expect(answer?.toString("latin1")).toContain("Listed");
    expect([...(answer?.subarray(-4) ?? [])]).toEqual([127, 64, 1, 2]);
  });

  it("gets nothing for another type, and no such name for one that is not listed", () => {
    expect([
      codeOf(ask(query("listed.example.test", AAAA))),
      answersIn(ask(query("listed.example.test", AAAA))),
    ]).toEqual([0, 0]);
    for (const type of [A, AAAA]) expect(codeOf(ask(query("other.example.test", type)))).toBe(3);
  });

  it("is answered with what is wrong with it, or not at all", () => {
    expect(codeOf(ask(query("listed.example.test", A, { kind: 3 })))).toBe(5);
    expect(codeOf(ask(query("listed.example.test", A, { flags: 0x2800 })))).toBe(4);
    expect(codeOf(ask(query("listed.example.test", A, { questions: 2 })))).toBe(1);
    expect(codeOf(ask(query("listed.example.test").subarray(0, 30)))).toBe(1);
    expect(codeOf(ask(Buffer.concat([query("a").subarray(0, 12), Buffer.from([0xc0, 12, 0, 1, 0, 1])])))).toBe(1);
    expect(ask(query("listed.example.test", A, { flags: 0x8180 }))).toBeUndefined();
    expect(ask(Buffer.from("short"))).toBeUndefined();
  });

  it("may be any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, isQuery) => {
        const given = Buffer.from(bytes);
        const answer = ask(isQuery ? Buffer.concat([query("a").subarray(0, 12), given]) : given);
        expect(answer === undefined || answer.length >= 12).toBe(true);
      }),
    );
  });
});
