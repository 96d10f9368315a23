import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dataPayload, exitPayload, helloPayload, pack } from "../../test/guest/fake-guest.ts";
import { isClocheError } from "../base/errors.ts";
import * as payloads from "./payloads.ts";

const READERS = {
  readHello: payloads.readHello,
  readStarted: payloads.readStarted,
  readData: payloads.readData,
  readEnd: payloads.readEnd,
  readCredit: payloads.readCredit,
  readExit: payloads.readExit,
  readError: payloads.readError,
  readProcessList: payloads.readProcessList,
  readPong: payloads.readPong,
  readIncoming: (payload: Buffer) => payloads.readIncoming(payload, true),
  readDatagram: payloads.readDatagram,
};

function codeOf(run: () => unknown): string {
  try {
    run();
    return "fine";
  } catch (error) {
    if (isClocheError(error)) return error.code;
    throw error;
  }
}

const processItem = (state: number, tag: string, range: [number, number] = [0, 10]) =>
  pack(
    ["u32", 7],
    ["u32", 42],
    ["u8", state],
    ["u8", 1],
    ["u8", 1],
    ["i32", 15],
    ["u64", range[0]],
    ["u64", range[1]],
    ["u64", 0],
    ["u64", 0],
    ["str", tag],
  );

describe("payload readers", () => {
  it.each(Object.entries(READERS))("%s reads any bytes or refuses them as a fault of the protocol", (_name, read) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), (bytes) => {
        expect(["fine", "GUEST_PROTOCOL", "GUEST_VERSION"]).toContain(codeOf(() => read(Buffer.from(bytes))));
      }),
    );
  });

  it.each([
    ["HELLO", payloads.readHello, helloPayload()],
    ["EXIT", payloads.readExit, exitPayload(3)],
    ["PROCESS_LIST", payloads.readProcessList, Buffer.concat([pack(["u32", 1]), processItem(1, "tag")])],
    ["ERROR", payloads.readError, pack(["u32", 2], ["str", "no"])],
  ])("%s is refused when it is cut anywhere or has a byte too many", (_name, read, whole) => {
    expect(codeOf(() => read(whole))).toBe("fine");
    for (let length = 0; length < whole.length; length++) {
      expect(codeOf(() => read(whole.subarray(0, length)))).toBe("GUEST_PROTOCOL");
    }
    expect(codeOf(() => read(Buffer.concat([whole, Buffer.of(0)])))).toBe("GUEST_PROTOCOL");
  });

  it("tells another version of the guest apart from a broken one", () => {
    expect(codeOf(() => payloads.readHello(helloPayload(2)))).toBe("GUEST_VERSION");
    expect(codeOf(() => payloads.readHello(pack(["u32", 1], ["u16", 2])))).toBe("GUEST_PROTOCOL");
  });

  it("reads a process list with running and ended processes", () => {
    const payload = Buffer.concat([pack(["u32", 2]), processItem(0, ""), processItem(1, "exec:1")]);
    expect(payloads.readProcessList(payload)).toEqual([
      { process: 7, pid: 42, exit: undefined, stdout: { start: 0, end: 10 }, stderr: { start: 0, end: 0 }, tag: "" },
      {
        process: 7,
        pid: 42,
        exit: { kind: "signalled", code: 15, timedOut: true },
        stdout: { start: 0, end: 10 },
        stderr: { start: 0, end: 0 },
        tag: "exec:1",
      },
    ]);
  });

  it.each([
    ["a count without items", () => payloads.readProcessList(pack(["u32", 0xffff_ffff]))],
    [
      "a ring that ends before it starts",
      () => payloads.readProcessList(Buffer.concat([pack(["u32", 1]), processItem(0, "", [5, 4])])),
    ],
    ["a state that is none", () => payloads.readProcessList(Buffer.concat([pack(["u32", 1]), processItem(2, "")]))],
    ["an offset that cannot be counted", () => payloads.readData(Buffer.concat([Buffer.of(1), Buffer.alloc(8, 0xff)]))],
    ["output on stdin", () => payloads.readData(dataPayload(0, 0, "x"))],
    ["a NUL in a text", () => payloads.readError(pack(["u32", 1], ["str", "a\0b"]))],
    ["credit for stdout", () => payloads.readCredit(pack(["u8", 1], ["u32", 1]))],
  ])("refuses %s", (_name, read) => {
    expect(codeOf(read)).toBe("GUEST_PROTOCOL");
  });

  it("takes control characters out of messages", () => {
    const { message } = payloads.readError(pack(["u32", 1], ["str", "bad\x1b[2J\u009bthing\n\u202efoo"]));
    expect(message).toBe("bad [2J thing foo");
  });
});
