import { expect, it } from "vitest";
import { readPublicKey } from "./public-key-file.ts";
import { verifyEvidence } from "./verify-evidence.ts";

it("a file that cannot be read is told in plain words, with its path once", () => {
  expect(() => readPublicKey("/nowhere/nokey")).toThrow(
    /^Cannot read the public key "\/nowhere\/nokey": it is not there$/,
  );
  expect(() => readPublicKey("/")).toThrow(/^Cannot read the public key "\/": it is a folder$/);
  expect(() => verifyEvidence("/", undefined as never)).toThrow(/^Cannot read "\/": it is a folder$/);
});
