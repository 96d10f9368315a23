import { closeSync, openSync, readFileSync, readlinkSync, readSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";

/** Of the calls that wait for the other end of a pipe: those that open a path, with the place of the path, and those that read. */
const CALLS: Readonly<Record<string, { readonly open: Readonly<Record<number, number>>; readonly read: number }>> = {
  x64: { open: { 2: 0, 257: 1 }, read: 0 },
  arm64: { open: { 56: 1 }, read: 63 },
};
const MAX_PATH = 4096;

/** What tells whether a process got on since the last look; undefined when it runs, waits for a disk or has ended. */
export function idleMark(pid: number): string | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .split(" ");
    return fields[0] === "S" ? `${fields[11]} ${fields[12]}` : undefined;
  } catch {
    return undefined;
  }
}

/** The path of what is no ordinary file and what a process waits for; undefined when it waits for something else, or nobody can tell. */
export function waitedFor(pid: number): string | undefined {
  try {
    const calls = CALLS[process.arch];
    const [call, ...values] = readFileSync(`/proc/${pid}/syscall`, "latin1").trim().split(" ");
    if (calls === undefined || call === undefined || !/^\d+$/.test(call)) return undefined;
    const place = calls.open[Number(call)];
    const path =
      place !== undefined
        ? openedPath(pid, Number(values[place]), place > 0 ? Number(values[0]) : undefined)
        : Number(call) === calls.read && Number(values[0]) > 2
          ? readlinkSync(`/proc/${pid}/fd/${Number(values[0])}`)
          : undefined;
    const found = path === undefined ? undefined : statSync(path);
    return found && !found.isFile() && !found.isDirectory() ? path : undefined;
  } catch {
    return undefined;
  }
}

function openedPath(pid: number, address: number, folder: number | undefined): string {
  const memory = openSync(`/proc/${pid}/mem`, "r");
  try {
    const bytes = Buffer.alloc(MAX_PATH);
    const text = bytes.subarray(0, readSync(memory, bytes, 0, bytes.length, address));
    const path = text.subarray(0, Math.max(0, text.indexOf(0))).toString("utf8");
    // A number that stands for the working folder is larger than any descriptor.
    const at = folder === undefined || folder > 0xffff ? "cwd" : `fd/${folder}`;
    return isAbsolute(path) ? path : join(readlinkSync(`/proc/${pid}/${at}`), path);
  } finally {
    closeSync(memory);
  }
}
