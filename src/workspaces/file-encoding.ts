import { isUtf8 } from "node:buffer";
import { failure } from "../model/error-codes.ts";
import type { FileEncoding } from "../model/files.ts";
import { argument, way } from "../model/hint.ts";

/** Content for JSON: text where it is text, else base64, and said which. Nothing of it is replaced. */
export function encodeContent(
  bytes: Buffer,
  asked: FileEncoding | undefined,
  path: string,
): { content: string; encoding: FileEncoding } {
  const isText = asked !== "base64" && isUtf8(bytes);
  if (asked === "utf8" && !isText) {
    throw failure("FILE_WRONG_TYPE", `Cannot read "${path}" as text: it is no UTF-8`, {
      hint: [way`Ask for ${argument("encoding", "base64")}`],
    });
  }
  return isText
    ? { content: bytes.toString("utf8"), encoding: "utf8" }
    : { content: bytes.toString("base64"), encoding: "base64" };
}

/** The bytes that a caller means. Base64 is with or without its padding, and in either alphabet; anything else in it is refused. */
export function decodeContent(text: string, encoding: FileEncoding | undefined, path: string): Buffer {
  if (encoding !== "base64") return Buffer.from(text, "utf8");
  const digits = text.replaceAll(/\s/g, "").replace(/={1,2}$/, "");
  if (!/^[A-Za-z0-9+/_-]*$/.test(digits) || digits.length % 4 === 1) {
    throw failure("INVALID_ARGUMENT", `Cannot write "${path}": the text is no base64`, {
      hint: [way`Leave ${argument("encoding")} out to write the text itself`],
    });
  }
  return Buffer.from(digits, "base64");
}
