import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf } from "../../base/errors.ts";
import type { IdMap } from "../../base/id-map.ts";
import { removeTree } from "../../base/remove-tree.ts";
import { failure } from "../../model/error-codes.ts";
import { idMapArguments } from "./id-map-arguments.ts";
import { makeOwned } from "./layers.ts";
import { GUEST_PROGRAM } from "./wall-process.ts";

const MAX_ERROR_BYTES = 2000;

/**
 * Copies a writable layer, which a sandbox may be writing to, into the new folder `target`; gives the bytes of its files. What is at `target` is
 * always whole: the copy gets that name last.
 */
export async function copyLayer(
  source: string,
  target: string,
  idMap: IdMap,
  signal: AbortSignal | undefined,
): Promise<number> {
  const temporary = `${target}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    makeOwned(temporary, 0o700, idMap.toHost(0, 0));
    const bytes = await runCopy(["--from", source, "--to", temporary, ...idMapArguments(idMap)], signal);
    await rename(temporary, target);
    return bytes;
  } catch (error) {
    await removeTree(temporary);
    throw error;
  }
}

function runCopy(options: readonly string[], signal: AbortSignal | undefined): Promise<number> {
  return new Promise((done, fail) => {
    // SECURITY: the program becomes the sandbox's root, who owns nothing on the host, before it reads what a sandbox wrote (G-01).
    const child = spawn(GUEST_PROGRAM, ["copy-layer", ...options], {
      cwd: "/",
      env: {},
      stdio: ["ignore", "pipe", "pipe"],
    });
    const cancelled = () => failure("CANCELLED", "Copying a layer was cancelled");
    const onAbort = () => child.kill("SIGKILL");
    let output = "";
    let complaint = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-MAX_ERROR_BYTES)));
    child.once("error", (error) => fail(copyFailure(messageOf(error))));
    // Only once it is gone may what it wrote be removed.
    child.once("close", (code) => {
      signal?.removeEventListener("abort", onAbort);
      if (signal?.aborted) fail(cancelled());
      else if (code === 0 && /^\d+\n$/.test(output)) done(Number(output));
      else fail(copyFailure(complaint.trim() || `it ended with code ${String(code)}`));
    });
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
  });
}

function copyFailure(reason: string): Error {
  const full = /No space left on device|Disk quota exceeded/.test(reason);
  return failure(full ? "DISK_FULL" : "INTERNAL", `Cannot copy the files of the workspace: ${reason}`);
}
