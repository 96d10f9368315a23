import { expect, it } from "vitest";
import { machineFailure } from "./machine-failure.ts";

it("tells an emulator's last line, without what its machine has told the terminal", () => {
  expect(machineFailure("\u001Bc\u001B[?7l\u001B[2J\u001B[0mbooting\r\nKernel panic: no room\u0007\r\n")).toMatchObject(
    {
      code: "SANDBOX_START_FAILED",
      message: "Cannot start the machine: Kernel panic: no room",
      details: { output: "booting\nKernel panic: no room" },
    },
  );
});

it("says so when nothing but that came", () => {
  expect(machineFailure("\u001Bc\u001B[?7l\u001B[2J").message).toBe(
    "Cannot start the machine: the emulator ended without a word",
  );
});

it.each([
  ["qemu-system-x86_64: cannot set up guest memory 'ram': Cannot allocate memory", /too little memory/, /--mem-mib/],
  ["cloche-guest: cannot make a user namespace: No space left on device", /user namespaces/, /sysctl/],
  ["qemu-system-x86_64: Address space limit 0xffff < 0x1ffff phys-bits too low (40)", /no machine has/, /--mem-mib/],
  ["write: No space left on device", /no space is left/, /Free some space/],
])("knows the cause of %j", (text, message, hint) => {
  expect(machineFailure(text)).toMatchObject({
    message: expect.stringMatching(message) as string,
    hint: expect.stringMatching(hint) as string,
  });
});
