import type { ClocheError } from "../../base/errors.ts";
import type { GuestExit } from "../../guest/process.ts";
import { failure } from "../../model/error-codes.ts";
import { exitCodeOf } from "../exec-command.ts";
import type { LiveWorkspace } from "../live-workspace.ts";
import { readServiceLog, tailBytes, tailLines } from "./service-logs.ts";

const MAX_LINES = 20;
const MAX_BYTES = 4096;

/** SERVICE_NOT_READY, with the last that the service printed. */
export async function startFailure(
  live: LiveWorkspace,
  serviceName: string,
  { reason, exitCode }: { reason: string; exitCode: number | null },
): Promise<ClocheError> {
  const { stdout, stderr } = await lastWords(live, serviceName);
  // Errors are mostly on stderr, so that comes last and the other gets the room that is left.
  const said = tail(`${tail(stdout)}${stdout === "" || stdout.endsWith("\n") ? "" : "\n"}${tail(stderr)}`).trimEnd();
  const message = live.secrets.redactor.text(`Service "${serviceName}" ${reason}`);
  return failure("SERVICE_NOT_READY", said === "" ? message : `${message}; its last output:\n${said}`, {
    details: { service_name: serviceName, exit_code: exitCode, stdout, stderr },
  });
}

/** How an end before readiness reads. */
export function describeEnd(exit: GuestExit | undefined): string {
  if (!exit) return "was lost before it was ready";
  if (exit.kind === "failed") return `could not be started: ${exit.message}`;
  if (exit.kind === "signalled") return `was ended by signal ${exit.code} before it was ready`;
  return `ended with exit code ${exitCodeOf(exit)} before it was ready`;
}

const tail = (text: string): string => tailBytes(tailLines(text, MAX_LINES).text, MAX_BYTES);

async function lastWords(live: LiveWorkspace, serviceName: string): Promise<{ stdout: string; stderr: string }> {
  try {
    const { stdout, stderr } = await readServiceLog(live, serviceName);
    return { stdout: tail(stdout.text), stderr: tail(stderr.text) };
  } catch {
    return { stdout: "", stderr: "" }; // the sandbox is gone, and with it the log; the failure itself is told
  }
}
