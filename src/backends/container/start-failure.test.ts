import { expect, it } from "vitest";
import { startFailure } from "./start-failure.ts";

it("says of a runtime that is not there that it is not, whatever a closed folder of PATH makes of it", () => {
  for (const reason of ["No such file or directory", "Permission denied"]) {
    const { message, hint } = startFailure(`cloche: cannot run runcs: ${reason}\n`, "runcs");
    expect(message).toBe('Cannot start the sandbox: there is no OCI runtime "runcs" on this host');
    expect(hint).toContain("--oci-runtime");
  }
  expect(startFailure("runsc: bad flag\n", "runsc").message).toContain('with the OCI runtime "runsc": runsc: bad flag');
});

it.each([
  ["cannot mount /proc: Operation not permitted", "BACKEND_UNAVAILABLE", "does not let a sandbox mount its own /proc"],
  ["cannot make a user namespace: Operation not permitted", "BACKEND_UNAVAILABLE", "namespaces"],
  [
    "cannot use the folder /tmp of the environment: Too many levels of symbolic links",
    "SANDBOX_START_FAILED",
    "a link",
  ],
  ["cannot make a place for the guest program: No space left on device", "DISK_FULL", "no space left"],
])("knows what is behind %s", (text, code, words) => {
  const failure = startFailure(`${text}\n`);
  expect(failure).toMatchObject({ code, details: { output: `${text}\n` } });
  expect(failure.message).toContain(words);
  expect(failure.hint).not.toBeNull();
});
