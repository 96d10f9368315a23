import type { ClocheError } from "../../base/errors.ts";
import { type ErrorCode, failure } from "../../model/error-codes.ts";
import { NO_USER_NAMESPACES } from "../../walls/user-namespaces.ts";

interface KnownCause {
  readonly pattern: RegExp;
  readonly message: string;
  readonly hint: string;
  /** What it is a failure of, unless the backend as a whole. */
  readonly code?: ErrorCode;
}

/** What a host most often lacks, with the one thing to do about it. The text is the launcher's or an OCI runtime's. */
const KNOWN_CAUSES: readonly KnownCause[] = [
  {
    pattern:
      /cannot make a user namespace|cannot map user ids|No permissions to create(?: a)? new namespace|setting up uid map/i,
    ...NO_USER_NAMESPACES,
  },
  {
    pattern: /cannot mount an overlay/,
    message: "this kernel does not let a user namespace mount an overlay",
    hint: "Use Linux 5.11 or newer, and keep the cloche home on a file system with extended attributes (ext4, xfs, btrfs, tmpfs of Linux 6.6)",
  },
  {
    pattern: /cannot show the folder .*: Invalid argument/,
    message:
      "something is mounted below a folder of the host that the environment shows, and only root can look past it",
    hint: "Use an environment of its own, such as debian:12; or run cloche as root",
  },
  {
    pattern: /cannot mount \/proc|mounting proc|mount `proc`/i,
    message: "this host does not let a sandbox mount its own /proc",
    hint: "In a container, run cloche with an unmasked /proc (docker run --security-opt systempaths=unconfined), or on the host",
  },
  {
    pattern: /No space left on device/,
    message: "no space left where the cloche home is",
    hint: "Free some space where the cloche home and cache are, then try again",
    code: "DISK_FULL",
  },
  {
    pattern: /cannot use the folder .* of the environment/,
    message: "the environment has a link or a file where a sandbox needs a folder",
    hint: "Make it a folder in the environment: links to these places are not followed",
    code: "SANDBOX_START_FAILED",
  },
];

export function startFailure(text: string, runtime?: string): ClocheError {
  const known = KNOWN_CAUSES.find(({ pattern }) => pattern.test(text));
  const reason = lastLine(text);
  const options = { details: { output: text.slice(-2000) } };
  if (known)
    return failure(known.code ?? "BACKEND_UNAVAILABLE", `Cannot start the sandbox: ${known.message} (${reason})`, {
      ...options,
      hint: known.hint,
    });
  // Denied when a folder of PATH is closed to the sandbox's root: then it was in none of the others.
  if (runtime !== undefined && /cannot run .*: (?:No such file|Permission denied)/.test(reason)) {
    return failure(
      "SANDBOX_START_FAILED",
      `Cannot start the sandbox: there is no OCI runtime "${runtime}" on this host`,
      {
        ...options,
        hint: "Install it, or leave --oci-runtime and CLOCHE_OCI_RUNTIME out",
      },
    );
  }
  if (runtime !== undefined) {
    return failure(
      "SANDBOX_START_FAILED",
      `Cannot start the sandbox with the OCI runtime "${runtime}": ${reason || "it ended without a word"}`,
      {
        ...options,
        hint: "Check the runtime, or leave --oci-runtime and CLOCHE_OCI_RUNTIME out",
      },
    );
  }
  return failure("SANDBOX_START_FAILED", `Cannot start the sandbox: ${reason || "it ended without a word"}`, options);
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.trim().slice(0, 300) ?? "";
}
