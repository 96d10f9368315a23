import { createHash, type Hash } from "node:crypto";
import type { Applied } from "../../model/applied.ts";
import { fromByteText } from "../../policy/byte-text.ts";
import type { HomeState } from "../../policy/way-home/bring-home.ts";
import type { FileChangeHere } from "./write-files.ts";

/** The same for the same plan only: where it goes, all that is told of it, and each file with its content before and after. */
export function digestPlan(
  told: Omit<Applied, "plan_digest">,
  written: readonly FileChangeHere[],
  message: string | undefined,
): string {
  const hash = createHash("sha256");
  const leftOut = told.left_out.map((one) => JSON.stringify(one)).sort();
  // What is ignored does not come along, and a build may make more of it at any time.
  add(hash, JSON.stringify([{ ...told, left_out: leftOut, ignored_count: 0 }, message ?? null]));
  for (const { path, was, becomes } of written) {
    add(hash, fromByteText(path));
    for (const state of [was, becomes]) addState(hash, state);
  }
  return hash.digest("hex");
}

function addState(hash: Hash, state: HomeState | undefined): void {
  add(hash, state ? `${state.type} ${state.isExecutable}` : "");
  add(hash, state?.content ?? "");
}

/** With its length, so that no two lists of parts are the same bytes. */
function add(hash: Hash, part: string | Uint8Array): void {
  const bytes = Buffer.from(part as string);
  hash.update(`${bytes.length}:`).update(bytes);
}
