import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pack } from "../../test/guest/fake-guest.ts";
import { isClocheError } from "../base/errors.ts";
import {
  encodeBytesHead,
  encodeDone,
  encodeEntry,
  encodeFileEnd,
  RecordDecoder,
  type EntryType,
  type GuestRecord,
} from "./records.ts";

function decode(chunks: readonly Uint8Array[]): GuestRecord[] {
  const decoder = new RecordDecoder();
  // views are copied, as a reader that keeps them would
  return chunks
    .flatMap((chunk) => [...decoder.push(Buffer.from(chunk))])
    .map((record) => (record.kind === "bytes" ? { ...record, data: Buffer.from(record.data) } : record));
}

function codeOf(run: () => unknown): string {
  try {
    run();
    return "fine";
  } catch (error) {
    if (isClocheError(error)) return error.code;
    throw error;
  }
}

function entryBytes(path: string | Uint8Array, fields: { type?: string; mode?: number; target?: string } = {}): Buffer {
  const { type = "f", mode = 0o644, target = "" } = fields;
  return pack(["raw", `E${type}`], ["u32", mode], ["u64", 5], ["u64", 9], ["str", path], ["str", target]);
}

const changeBytes = (status: string, type: string, oldType: string, path = "a") =>
  pack(
    ["raw", `C${status}${type}`],
    ["u32", 0o644],
    ["u64", 5],
    ["raw", oldType],
    ["u32", 0],
    ["u64", 0],
    ["str", path],
  );

const name = fc
  .uint8Array({ minLength: 1, maxLength: 40 })
  .filter((bytes) => !bytes.includes(0) && !bytes.includes(0x2f))
  .filter((bytes) => !["..", "."].includes(Buffer.from(bytes).toString("latin1")));
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => {
  return Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from("/"), part])));
});

describe("RecordDecoder", () => {
  it("gives back entries and content however the bytes are cut, names of any bytes included", () => {
    const member = fc.record({
      pathBytes: path,
      content: fc.uint8Array({ maxLength: 200 }),
      mtimeNs: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    });
    const step = fc.integer({ min: 1, max: 60 });
    fc.assert(
      fc.property(fc.array(member, { maxLength: 8 }), step, (members, size) => {
        const records = members.flatMap(({ pathBytes, content, mtimeNs }) => [
          encodeEntry({
            type: "file",
            mode: 0o640,
            size: content.length,
            mtimeNs,
            pathBytes,
            linkTargetBytes: Buffer.alloc(0),
          }),
          encodeBytesHead(content.length),
          content,
          encodeFileEnd(),
        ]);
        const bytes = Buffer.concat([...records, encodeDone(7)]);
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
          bytes.subarray(at * size, (at + 1) * size),
        );
        const decoded = decode(chunks);
        const entries = decoded.flatMap((record) => (record.kind === "entry" ? [record.entry] : []));
        expect(entries.map(({ pathBytes, mtimeNs }) => [pathBytes.toString("hex"), mtimeNs])).toEqual(
          members.map(({ pathBytes, mtimeNs }) => [pathBytes.toString("hex"), mtimeNs]),
        );
        const content = decoded.flatMap((record) => (record.kind === "bytes" ? [record.data] : []));
        expect(Buffer.concat(content)).toEqual(Buffer.concat(members.map((one) => one.content)));
        expect(decoded.at(-1)).toEqual({ kind: "done", bytes: 7 });
      }),
    );
  });

  it("reads or refuses any bytes", () => {
    const kinds = fc.constantFrom("E", "B", "Z", "C", "X", ".", "");
    fc.assert(
      fc.property(kinds, fc.uint8Array({ maxLength: 200 }), (kind, bytes) => {
        expect(["fine", "GUEST_PROTOCOL"]).toContain(codeOf(() => decode([Buffer.from(kind), bytes])));
      }),
    );
  });

  it.each(["../x", "/etc", "a//b", "a/", "./a", "a/..", "a/./b", "..", "."])("refuses the path %j", (bad) => {
    expect(codeOf(() => decode([entryBytes(bad)]))).toBe("GUEST_PROTOCOL");
    expect(codeOf(() => decode([changeBytes("A", "f", "-", bad)]))).toBe("GUEST_PROTOCOL");
  });

  it.each(["...", "a..b", "..a", "a/.b", "-rf", "new\nline"])("takes the path %j", (good) => {
    expect(codeOf(() => decode([entryBytes(good)]))).toBe("fine");
  });

  it.each([
    ["a NUL in a path", entryBytes("a\0b")],
    ["a path above 4096 bytes, before its bytes have come", entryBytes("x".repeat(4097)).subarray(0, 26)],
    ["a link without a target", entryBytes("a", { type: "l" })],
    ["a target without a link", entryBytes("a", { target: "b" })],
    ["an unknown type", entryBytes("a", { type: "s" })],
    ["a mode with more than permissions", entryBytes("a", { mode: 0o100644 })],
    ["a change that is deleted and there", changeBytes("D", "f", "f")],
    ["a change that is added and was there", changeBytes("A", "f", "f")],
    ["an unknown record", Buffer.from("Q")],
    ["a record after the last", Buffer.concat([encodeDone(0), encodeFileEnd()])],
  ])("refuses %s", (_name, bytes) => {
    expect(codeOf(() => decode([bytes]))).toBe("GUEST_PROTOCOL");
  });

  it("shows a name that is not UTF-8 and keeps its bytes", () => {
    const [record] = decode([entryBytes(Buffer.of(0x61, 0xff))]);
    expect(record).toMatchObject({ entry: { path: "a\ufffd", pathBytes: Buffer.of(0x61, 0xff), linkTarget: null } });
  });

  it("reads each kind of change", () => {
    const [deleted, changed] = decode([changeBytes("D", "-", "f"), changeBytes("T", "l", "d")]);
    expect(deleted).toMatchObject({ change: { status: "deleted", newType: undefined, oldType: "file", path: "a" } });
    expect(changed).toMatchObject({ change: { status: "type_changed", newType: "symlink", oldType: "directory" } });
  });

  it("passes content on as it comes, without holding the record", () => {
    const decoder = new RecordDecoder();
    expect([...decoder.push(encodeBytesHead(0xffff_ffff))]).toEqual([]);
    expect([...decoder.push(Buffer.from("abc"))]).toEqual([{ kind: "bytes", data: Buffer.from("abc") }]);
  });

  it.each<EntryType>(["file", "directory", "symlink", "other"])("encodes a %s as it decodes it", (type) => {
    const linkTargetBytes = Buffer.from(type === "symlink" ? "../out" : "");
    const entry = { type, mode: 0o755, size: 3, mtimeNs: -1n, pathBytes: Buffer.from("p"), linkTargetBytes };
    expect(decode([encodeEntry(entry)])).toMatchObject([{ kind: "entry", entry }]);
  });
});
