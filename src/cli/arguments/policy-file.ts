import { dirname, resolve } from "node:path";
import { ClocheError, isClocheError } from "../../base/errors.ts";
import type { EgressInput } from "../../model/egress.ts";
import { failure } from "../../model/error-codes.ts";
import { policyFrom } from "../../sdk/on-this-host.ts";
import type { CliIo } from "../io.ts";
import type { OptionSpec } from "./option-spec.ts";
import { requireOwnCommands } from "./token-commands.ts";
import { readTextSource } from "./text-source.ts";

export const EGRESS_POLICY = {
  type: "string",
  value: "FILE",
  description: "What it may reach, as routes in YAML or JSON; `docs/egress.md` has all that a route can have",
  completes: "host-path",
} as const satisfies OptionSpec;

export interface PolicyFile {
  readonly file: string;
  /** Of the command, and what names the file in it. */
  readonly words: readonly string[];
  readonly flag: string;
  /** Whether its token commands are run; `isAllowed` where the user said so for any policy. */
  readonly runs?: { readonly isAllowed: boolean; readonly seedPath?: string | undefined };
}

/** Does something with the policy in a file. What is wrong with it is told with the file and the line. */
export async function withPolicyFile<Result>(
  io: CliIo,
  { file, words, flag, runs }: PolicyFile,
  act: (egress: EgressInput) => Promise<Result>,
): Promise<Result> {
  const text = await readTextSource(io, file, words, flag);
  const { readPolicyDocument } = await import("./policy-document.ts");
  const read = readPolicyDocument(text);
  if ("problem" in read)
    throw failure("EGRESS_POLICY_INVALID", `Cannot read "${file}", line ${read.line}: ${read.problem}`, {
      hint: "Correct the file; it is YAML or JSON",
    });
  const { value, lineOf } = read;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw failure("EGRESS_POLICY_INVALID", `Cannot use "${file}": it is no list of keys, such as \`routes:\``);
  const folder = file === "-" ? io.cwd : dirname(resolve(io.cwd, file));
  const policy = policyFrom(value, folder);
  if (runs && !runs.isAllowed) requireOwnCommands(policy, { file, folder, ...runs }, io);
  try {
    return await act(policy);
  } catch (error) {
    throw isClocheError(error) && error.code === "EGRESS_POLICY_INVALID" ? placed(error, file, lineOf) : error;
  }
}

function placed(error: ClocheError, file: string, lineOf: (path: PropertyKey[]) => number | undefined): ClocheError {
  const path = error.details?.["path"];
  const line = Array.isArray(path) ? lineOf(path as PropertyKey[]) : undefined;
  const clause = error.message.replace(/^Cannot use the egress policy: /, "");
  const where = line === undefined ? "" : `, line ${line}`;
  return new ClocheError(error.code, `Cannot use "${file}"${where}: ${clause}`, error.hint, {
    details: { ...error.details, file, ...(line !== undefined && { line }) },
    cause: error,
  });
}
