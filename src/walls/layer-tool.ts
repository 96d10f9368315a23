import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf } from "../base/errors.ts";
import type { IdMap } from "../base/id-map.ts";
import { onAbort } from "../base/on-abort.ts";
import { removeTree } from "../base/remove-tree.ts";
import { failure } from "../model/error-codes.ts";
import { guestProgram } from "./guest-program.ts";
import { makeOwned } from "./layers.ts";

const MAX_ERROR_BYTES = 2000;

/** The guest program as the host's tool for layers, and its end. */
export interface LayerTool {
  readonly child: ChildProcess;
  /** What it printed as its result. Rejects when it failed or was cancelled, once it is gone: only then may what it wrote be removed. */
  readonly ended: Promise<void>;
}

// SECURITY: the program becomes the sandbox's root, who owns nothing on the host, before it reads or writes what a sandbox wrote (G-01).
export function startLayerTool(
  argv: readonly string[],
  stdin: "ignore" | "pipe",
  signal: AbortSignal | undefined,
): LayerTool {
  const child = spawn(guestProgram(), argv, { cwd: "/", env: {}, stdio: [stdin, "pipe", "pipe"] });
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-MAX_ERROR_BYTES)));
  const ended = new Promise<void>((done, fail) => {
    child.once("error", (error) => fail(layerFailure(messageOf(error))));
    child.once("close", (code) => {
      stopListening();
      if (signal?.aborted) fail(failure("CANCELLED", "Copying a layer was cancelled"));
      else if (code === 0) done();
      else fail(layerFailure(complaint.trim() || `it ended with code ${String(code)}`));
    });
  });
  ended.catch(() => undefined); // a caller that waits for it later gets the error then
  const stopListening = onAbort(signal, () => child.kill("SIGKILL"));
  return { child, ended };
}

/** What a tool that ends well has printed: the bytes of the files in the layer. */
export async function printedBytes({ child, ended }: LayerTool): Promise<number> {
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await ended;
  if (!/^\d+\n$/.test(output)) throw layerFailure("it did not tell the size");
  return Number(output);
}

/** Makes a layer: `fill` gets a new empty folder that belongs to the sandbox's root. What is at `target` is always whole: it gets that name last. */
export async function makeLayer(
  target: string,
  idMap: IdMap,
  fill: (folder: string) => Promise<number>,
): Promise<number> {
  const temporary = `${target}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    makeOwned(temporary, 0o700, idMap.toHost(0, 0));
    const bytes = await fill(temporary);
    await rename(temporary, target);
    return bytes;
  } catch (error) {
    await removeTree(temporary);
    throw error;
  }
}

function layerFailure(reason: string): Error {
  const full = /No space left on device|Disk quota exceeded/.test(reason);
  return failure(full ? "DISK_FULL" : "INTERNAL", `Cannot copy the files of the workspace: ${reason}`);
}
