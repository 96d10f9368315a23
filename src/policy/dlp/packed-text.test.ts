import fc from "fast-check";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createDetector } from "./create-detector.ts";

const SECRET = ["kJ8s", "Qp2v", "Zx7L", "m4Rt", "Yw9B", "n3Dc"].join("");
const scan = createDetector({ known: [{ detector: "known_secrets", name: "API_TOKEN", value: SECRET }] }).scope();
const NAMED = 8;

/** As `gzip FILE` writes it: the name of the file is in the head. */
function gzipNamed(text: string): Buffer {
  const packed = gzipSync(text);
  packed[3] = NAMED;
  return Buffer.concat([packed.subarray(0, 10), Buffer.from("notes.txt\0"), packed.subarray(10)]);
}

/** One file in a zip archive. */
function zipped(text: string): Buffer {
  const packed = deflateRawSync(text);
  const head = Buffer.alloc(30);
  head.write("PK\x03\x04", "latin1");
  head.writeUInt16LE(8, 8);
  head.writeUInt16LE(9, 26);
  return Buffer.concat([head, Buffer.from("notes.txt"), packed]);
}

const inLines = (text: string, line: string): string => (text.match(/.{1,40}/g) ?? []).join(line);

const PACKED: Readonly<Record<string, (text: string) => Buffer | string>> = {
  gzip: (text) => gzipSync(text),
  "gzip with a name": gzipNamed,
  "gzip with a wrong checksum": (text) => Buffer.concat([gzipSync(text).subarray(0, -8), Buffer.alloc(8)]),
  "the second of two": (text) => Buffer.concat([gzipSync("nothing here"), gzipSync(text)]),
  "gzip in base64": (text) => gzipSync(text).toString("base64"),
  "the second of two in base64": (text) => Buffer.concat([gzipSync("nothing"), gzipSync(text)]).toString("base64"),
  "gzip in base64url": (text) => gzipSync(text).toString("base64url"),
  "gzip in hex": (text) => gzipSync(text).toString("hex"),
  "gzip in hex, in capitals": (text) => gzipSync(text).toString("hex").toUpperCase(),
  "zlib in base64": (text) => deflateSync(text).toString("base64"),
  "zlib in base64, packed well": (text) => deflateSync(text, { level: 9 }).toString("base64"),
  "zlib in base64, packed fast": (text) => deflateSync(text, { level: 1 }).toString("base64"),
  "zlib in base64, packed at level 5": (text) => deflateSync(text, { level: 5 }).toString("base64"),
  "zlib in hex": (text) => deflateSync(text).toString("hex"),
  zlib: (text) => deflateSync(text),
  "gzip in lines of base64": (text) => inLines(gzipSync(text).toString("base64"), "\n"),
  "gzip in lines of base64, as a string has them": (text) => inLines(gzipSync(text).toString("base64"), "\\n"),
  "gzip in lines of hex": (text) => inLines(gzipSync(text).toString("hex"), "\r\n"),
  zip: zipped,
  "zip in base64": (text) => zipped(text).toString("base64"),
};

describe("G-193 what was packed before it was sent", () => {
  it.each(Object.entries(PACKED))("is looked into: %s", (_, pack) => {
    for (const [before, after] of [
      ["", ""],
      ['{"file":"', '"}'],
      ["--b\r\n\r\n", "\r\n--b--\r\n"],
    ] as const) {
      const body = scan.body({ mode: "find" });
      const bytes = Buffer.concat(
        [before, pack(`a note, and ${SECRET} in it`), after].map((part) => Buffer.from(part)),
      );
      body.push(bytes);
      body.end();
      expect(body.findings[0], before).toMatchObject({ rule: "known-secret", name: "API_TOKEN" });
      expect(scan.bytes("message", bytes)[0]).toMatchObject({ rule: "known-secret" });
    }
  });

  it("leaves with nothing of it where findings are overwritten", () => {
    const packed = gzipSync(SECRET).toString("base64");
    const { value } = scan.redactText("body", `{"file":"${packed}","more":1}`);
    expect(value).not.toContain(packed.slice(0, 8));
    expect(JSON.parse(value)).toMatchObject({ more: 1 });
  });

  it("is nothing where it only begins like that, and stops nothing", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("H4sI", "1f8b08", "eJw", "eNo", "eAE", "789c", "PK\u0003\u0004", "\u001f\u008b\b"),
        fc.string(),
        (start, rest) => {
          expect(scan.bytes("body", Buffer.from(`x ${start}${rest}${"A".repeat(40)}`, "latin1"))).toEqual([]);
        },
      ),
    );
  });

  it("is unpacked to a bounded size", () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    expect(scan.bytes("body", bomb)).toEqual([]);
  });
});
