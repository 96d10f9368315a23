import { type Stats, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { failure } from "../../model/error-codes.ts";
import { notInstalled, runTool } from "./run-tool.ts";

const PROGRAM = "qemu-system-x86_64";
const PACKAGE = "qemu-system-x86";

export interface Qemu {
  readonly program: string;
  /** As it tells it: `QEMU emulator version 7.2.22 (Debian …)`. */
  readonly version: string;
}

let known: { stamp: string; qemu: Promise<Qemu> } | undefined;

/** The emulator on the PATH. It is asked for its version once, as long as it is the same file. Kernel and guest program of a machine are for x86-64 only. */
export async function findQemu(path = process.env["PATH"] ?? "", processor: string = process.arch): Promise<Qemu> {
  if (processor !== "x64") {
    throw failure(
      "BACKEND_UNAVAILABLE",
      `Virtual machines are made on x86-64 only, and this processor is ${processor}`,
      {
        hint: "Use another backend, such as container",
      },
    );
  }
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const program = join(folder, PROGRAM);
    const found = lookAt(program);
    if (!found?.isFile()) continue;
    const stamp = JSON.stringify([program, found.ino, found.mtimeMs, found.size]);
    if (known?.stamp !== stamp) known = { stamp, qemu: ask(program) };
    try {
      return await known.qemu;
    } catch (error) {
      known = undefined;
      throw error;
    }
  }
  throw notInstalled(PROGRAM, PACKAGE);
}

async function ask(program: string): Promise<Qemu> {
  const text = await runTool({ argv: [program, "--version"], package: PACKAGE });
  return { program, version: text.split("\n")[0]?.trim() ?? "" };
}

/** A PATH may name folders that are closed to this user, as one that is taken over from root does. */
function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
