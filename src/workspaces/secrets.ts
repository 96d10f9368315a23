import { constants } from "node:fs";
import type { Hint } from "../base/hint.ts";
import { ClocheError, errnoOf, isClocheError, messageOf } from "../base/errors.ts";
import { isInside, NotExact, openExact } from "../base/exact-path.ts";
import { readOpenFile, readPlainFile } from "../base/read-plain-file.ts";
import type { StoredSecret } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import type { OperationInput } from "../model/operations.ts";
import { needleBytes, Redactor } from "../policy/redactor.ts";
import { redactValue } from "../policy/redact-value.ts";
import { digestSecret } from "./secret-digest.ts";

export type GivenSecret = NonNullable<OperationInput<"createWorkspace">["secrets"]>[number];

/** In the sandbox, on its memory-backed `/run`. */
export const SECRETS_FOLDER = "run/cloche/secrets";

/** A shorter one would be found in everything; a longer one does not fit a variable. */
const MIN_BYTES = 4;
const MAX_BYTES = 65_536;
/** For all secrets of a workspace. The lines of a value are counted a second time, because each line is looked for by itself. */
const MAX_TOTAL_BYTES = 98_304;

/** The values of a workspace's secrets. They are in this process's memory and in the sandbox's, and nowhere on a disk. */
export class Secrets {
  readonly values: ReadonlyMap<string, string>;
  readonly redactor: Redactor;

  constructor(values: ReadonlyMap<string, string>) {
    this.values = values;
    this.redactor = new Redactor([...values.values()]);
  }

  /** The variables that a call asked for: secret name to variable name. */
  environment(secretEnv: Readonly<Record<string, string>> | undefined): Record<string, string> {
    return Object.fromEntries(
      Object.entries(secretEnv ?? {}).map(([name, variable]) => {
        const value = this.values.get(name);
        if (value === undefined) throw failure("SECRET_NOT_FOUND", `The workspace has no secret "${name}"`);
        return [variable, value];
      }),
    );
  }
}

/** Whether a call asked for any: then no other command may look into its process. */
export const hasAny = (variables: Readonly<Record<string, string>>): boolean => Object.keys(variables).length > 0;

// SECURITY: an error may quote what is in the sandbox (G-17).
/** The same error without the values. */
export function redactError(error: unknown, redactor: Redactor): unknown {
  if (redactor.isEmpty || !isClocheError(error)) return error;
  const { code, message, hint, advice, details, cause } = error;
  const clean = details && (redactValue(details, redactor) as Record<string, unknown>);
  return new ClocheError(code, redactor.text(message), redactor.text(hint), {
    cause,
    advice: advice && (redactValue(advice, redactor) as Hint),
    ...(clean && { details: clean }),
  });
}

export const NO_SECRETS = new Secrets(new Map());

/** Takes the values in, from the call or from files of the host. No message ever has a value. */
export async function readSecrets(given: readonly GivenSecret[] | undefined): Promise<{
  secrets: Secrets;
  records: StoredSecret[];
}> {
  const values = new Map<string, string>();
  let total = 0;
  for (const one of given ?? []) {
    if (values.has(one.name)) throw failure("SECRET_INVALID", `Secret "${one.name}" is given twice`);
    const value = "value" in one ? one.value : readSecretFile(one.name, one.file_path, one.within);
    const bytes = Buffer.byteLength(value);
    if (bytes < MIN_BYTES || bytes > MAX_BYTES || value.includes("\0")) {
      throw failure(
        "SECRET_INVALID",
        `Secret "${one.name}" has ${bytes} bytes${value.includes("\0") ? ", a NUL among them" : ""}`,
      );
    }
    // SECURITY: what it takes to look for them grows with their size, in each workspace (G-17)
    if ((total += needleBytes(value)) > MAX_TOTAL_BYTES) {
      throw failure(
        "SECRET_INVALID",
        `The secrets are too long together: there are more than ${MAX_TOTAL_BYTES} bytes to look for`,
        {
          hint: "Give fewer or shorter ones; one of several lines counts three times",
        },
      );
    }
    values.set(one.name, value);
  }
  const records = await Promise.all(
    (given ?? []).map(async (one): Promise<StoredSecret> => {
      const source_kind = "value" in one ? "literal" : "file";
      return { name: one.name, source_kind, digest: await digestSecret(values.get(one.name) ?? "") };
    }),
  );
  return { secrets: values.size === 0 ? NO_SECRETS : new Secrets(values), records };
}

function readSecretFile(name: string, path: string, within: string | undefined): string {
  let bytes: Buffer;
  try {
    const most = MAX_BYTES + 2; // and an editor's last newline
    bytes = within === undefined ? readPlainFile(path, most) : readOpenFile(openWithin(path, within), most);
  } catch (error) {
    if (isClocheError(error)) throw error;
    throw failure("SECRET_INVALID", `Cannot read secret "${name}": ${messageOf(error)}`, {
      hint: "Give a file that you can read",
    });
  }
  const text = bytes.toString("utf8");
  if (!Buffer.from(text).equals(bytes)) throw failure("SECRET_INVALID", `Secret "${name}" is not UTF-8 text`);
  return text.replace(/\r?\n$/, ""); // an editor's last newline is no part of a token
}

/** SECURITY: of a caller that may read a part of the host, the file that was opened has to be in that part (G-23). */
function openWithin(path: string, within: string): number {
  try {
    if (isInside(path, within)) return openExact(path, constants.O_RDONLY);
  } catch (error) {
    if (!(error instanceof NotExact) && errnoOf(error) !== "ELOOP") throw error;
  }
  throw failure("HOST_ACCESS_REFUSED", `Cannot read "${path}": it is not below "${within}"`);
}
