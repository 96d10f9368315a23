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

it("says of bubblewrap that it is not installed, and nothing of the folders where it was looked for", () => {
  const { message, hint } = startFailure("cloche: cannot run bwrap: Permission denied\n");
  expect(message).toBe("Cannot start the sandbox: bubblewrap is not installed");
  expect(hint).toBe("Install it: apt-get install bubblewrap");
});
