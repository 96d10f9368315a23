import { failure } from "../../model/error-codes.ts";
import type { CliIo } from "../io.ts";
import { readTextSource } from "./text-source.ts";

/** What is proposed, from a file in YAML or JSON. */
export async function readProposedFile(
  io: CliIo,
  file: string,
  words: readonly string[],
  flag: string,
): Promise<unknown> {
  const text = await readTextSource(io, file, words, flag);
  const { readPolicyDocument } = await import("./policy-document.ts");
  const read = readPolicyDocument(text);
  if (!("problem" in read)) return read.value;
  throw failure("PROPOSAL_INVALID", `Cannot read "${file}", line ${read.line}: ${read.problem}`, {
    hint: "Correct the file; it is YAML or JSON",
  });
}
