import { expect, it } from "vitest";
import { readProjectFile } from "./project-files.ts";

// A command lacks every capability, so the kernel refuses many of these by itself and no attack can tell whether the filter would.
it("G-06 G-07 the filter denies every system call that the guarantees name, and no other", () => {
  const source = readProjectFile("guest/seccomp.c");
  const table = /denials\[\] = \{(.*?)\n\};/s.exec(source)?.[1] ?? "";
  const denied = [...table.matchAll(/(?:DENY|HIDE)\((\w+)\)/g)].map(([, name]) => name);
  const section = readProjectFile("docs/guarantees.md").split("## The seccomp filter")[1] ?? "";
  // The rows about calls that depend on their arguments have a test each.
  const rows = section.split("\n| sockets |")[0]?.replace("`clone` with", "").replaceAll("`EPERM`", "") ?? "";
  const promised = [...rows.replaceAll(/`(ENOSYS|guest\/seccomp\.c)`/g, "").matchAll(/`([a-z0-9_ ]+)`/g)].flatMap(
    ([, names]) => names?.split(" ") ?? [],
  );
  expect(denied.sort()).toEqual(promised.sort());
});
