import { stripVTControlCharacters } from "node:util";
import { failure } from "../../model/error-codes.ts";
import { argument, way } from "../../model/hint.ts";
import { NO_USER_NAMESPACES } from "../../walls/user-namespaces.ts";

/** The words of an emulator, which prints what its machine's console does, without what only a terminal understands. */
const plain = (text: string): string =>
  stripVTControlCharacters(text)
    .replace(/[^\P{Cc}\n\t]/gu, "")
    .trim();

/** The first cause that is known, with the one thing to do about it. */
export function machineFailure(said: string): Error {
  const text = plain(said);
  const reason = text.split("\n").at(-1)?.trim().slice(0, 300) || "the emulator ended without a word";
  const options = { details: { output: text } };
  // Where there may be none, the kernel says that no space is left for one.
  if (/cannot make a user namespace|cannot (?:open|write) \/proc\/self\/|cannot mount the cell/.test(text)) {
    const { message, hint } = NO_USER_NAMESPACES;
    return failure("BACKEND_UNAVAILABLE", `Cannot start the machine: ${message} (${reason})`, { ...options, hint });
  }
  if (/No space left on device/.test(text))
    return failure("DISK_FULL", "Cannot start the machine: no space is left", options);
  if (/[Cc]annot allocate memory|cannot set up guest memory/.test(text)) {
    return failure("SANDBOX_START_FAILED", `Cannot start the machine: the host has too little memory (${reason})`, {
      ...options,
      hint: [way`Give the workspace less with ${argument("mem_mib")}`, way`stop others`],
    });
  }
  if (/phys-bits too low|[Rr]am size too large|maximum RAM/.test(text)) {
    return failure("SANDBOX_START_FAILED", `Cannot start the machine: no machine has that much memory (${reason})`, {
      ...options,
      hint: [way`Give the workspace less with ${argument("mem_mib")}`],
    });
  }
  if (/cannot run \S*qemu|cloche-guest.*ENOENT/.test(text)) {
    return failure("BACKEND_UNAVAILABLE", `Cannot start the machine: ${reason}`, {
      ...options,
      hint: "Install it: apt-get install qemu-system-x86; build the guest program: make build",
    });
  }
  return failure("SANDBOX_START_FAILED", `Cannot start the machine: ${reason}`, options);
}
