import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, readSync, readdirSync, readlinkSync } from "node:fs";

/** Processes that share a pid namespace with this one. */
export function processesBeside(pid: number): number[] {
  const own = readlinkSync(`/proc/${pid}/ns/pid`);
  return readdirSync("/proc").flatMap((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/ns/pid`) === own ? [Number(name)] : [];
    } catch {
      return []; // ended meanwhile
    }
  });
}

/** Which of these processes have a text in their memory, their environment or their command line. */
export function processesHolding(pids: readonly number[], text: string): string[] {
  const needle = Buffer.from(text);
  return pids.flatMap((pid) => {
    try {
      const lines = ["environ", "cmdline"].filter((file) => readFileSync(`/proc/${pid}/${file}`).includes(needle));
      return [...lines, ...(memoryHas(pid, needle) ? ["memory"] : [])].map((where) => `${where} of ${pid}`);
    } catch {
      return []; // ended meanwhile
    }
  });
}

const PLACES = ["home", "workspace", "tmp", "run", "dev/shm", "var", "etc", "root", "mnt", "srv", "cloche/bin"];

/** Files of a process's own file system that hold a text, memory-backed ones too; without those that the host shows there. */
export function filesHolding(pid: number, text: string): string[] {
  const folders = PLACES.map((place) => `/proc/${pid}/root/${place}`).filter((path) => existsSync(path));
  return grep(text, folders);
}

function grep(text: string, folders: readonly string[]): string[] {
  try {
    return execFileSync("grep", ["-rlaFs", "--devices=skip", "-e", text, ...folders])
      .toString()
      .trim()
      .split("\n");
  } catch {
    return []; // grep says by its exit code that there is none
  }
}

/** Whether anything in a folder of the host has a text, as it is or in base64. Disks of machines are holes for the most part, which are not read. */
export function folderHolds(folder: string, text: string): boolean {
  const pack =
    'tar --create --sparse --ignore-failed-read --file - --directory "$0" . 2>/dev/null | grep --quiet -aF -e "$1" -e "$2"';
  const encoded = Buffer.from(text).toString("base64").slice(0, 36);
  return spawnSync("sh", ["-c", pack, folder, text, encoded]).status === 0;
}

const PAGE = 4096;
const CHUNK = 4 * 1024 * 1024;

/** Looks at the pages that a process has in memory; what it has only mapped is read by nobody. */
function memoryHas(pid: number, needle: Buffer): boolean {
  const memory = openSync(`/proc/${pid}/mem`, "r");
  const pagemap = openSync(`/proc/${pid}/pagemap`, "r");
  try {
    for (const [from, to] of residentRegions(pid)) {
      for (let at = from; at < to; at += CHUNK) {
        // A text may lie across the border.
        const length = Math.min(CHUNK + needle.length, to - at);
        if (isResident(pagemap, at, length) && readAt(memory, at, length).includes(needle)) return true;
      }
    }
    return false;
  } finally {
    closeSync(memory);
    closeSync(pagemap);
  }
}

function residentRegions(pid: number): [from: number, to: number][] {
  const regions: [number, number][] = [];
  let last: [number, number] | undefined;
  for (const line of readFileSync(`/proc/${pid}/smaps`, "utf8").split("\n")) {
    const head = /^([0-9a-f]+)-([0-9a-f]+) (r.)/.exec(line);
    if (/^[0-9a-f]+-[0-9a-f]+ /.test(line))
      last = head && !line.includes("[v") ? [parseInt(head[1] ?? "", 16), parseInt(head[2] ?? "", 16)] : undefined;
    else if (last && /^Rss: +[1-9]/.test(line)) regions.push(last);
  }
  return regions;
}

function isResident(pagemap: number, at: number, length: number): boolean {
  const entries = readAt(pagemap, (at / PAGE) * 8, Math.ceil(length / PAGE) * 8);
  // The highest byte of an entry has its flags: in memory, or swapped out.
  for (let index = 7; index < entries.length; index += 8) if (((entries[index] ?? 0) & 0xc0) !== 0) return true;
  return false;
}

function readAt(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  try {
    return bytes.subarray(0, readSync(file, bytes, 0, length, at));
  } catch {
    return Buffer.alloc(0); // pages that nobody may read
  }
}
