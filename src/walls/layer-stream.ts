import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { IdMap } from "../base/id-map.ts";
import { idMapArguments } from "./id-map-arguments.ts";
import { type LayerTool, makeLayer, printedBytes, startLayerTool } from "./layer-tool.ts";

/**
 * A layer, or the baseline under it, as a stream for a machine that does not share the host's file system: owners as the sandbox has them, holes and
 * removed names told as such. `cloche-guest layer-unpack` makes a folder of it there; the builtin `layer-out` gives the same stream back.
 */
export async function* packLayer(folder: string, idMap: IdMap, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const { child, ended } = startLayerTool(["layer-pack", "--from", folder, ...idMapArguments(idMap)], "ignore", signal);
  try {
    for await (const chunk of child.stdout ?? []) yield chunk as Buffer;
    await ended;
  } finally {
    child.kill("SIGKILL");
  }
}

/** Makes a layer of such a stream, in the new folder `target`; gives the bytes of its files. */
export async function unpackLayer(
  stream: AsyncIterable<Uint8Array>,
  target: string,
  idMap: IdMap,
  signal?: AbortSignal,
): Promise<number> {
  const argv = (folder: string) => ["layer-unpack", "--to", folder, ...idMapArguments(idMap)];
  return await makeLayer(target, idMap, (folder) => feedTool(startLayerTool(argv(folder), "pipe", signal), stream));
}

async function feedTool(tool: LayerTool, stream: AsyncIterable<Uint8Array>): Promise<number> {
  const bytes = printedBytes(tool);
  const { stdin } = tool.child;
  if (!stdin) return await bytes;
  // The program stops reading when it gives up, and at the layer's end; what it says then counts. A stream that fails is no layer.
  const fed = pipeline(Readable.from(stream), stdin).catch(async (error: unknown) => {
    if (isBrokenPipe(error)) return;
    tool.child.kill("SIGKILL");
    await tool.ended.catch(() => undefined);
    throw error;
  });
  await Promise.all([fed, bytes.catch(() => undefined)]);
  return await bytes;
}

const isBrokenPipe = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  ["EPIPE", "ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE"].includes(String(error.code));

/** Copies a tree of the host's disk into an existing folder, with the owners that the sandbox sees instead of those it has here. Only for root. */
export async function copyUnmapped(from: string, to: string, idMap: IdMap, signal?: AbortSignal): Promise<void> {
  await feedTool(startLayerTool(["layer-unpack", "--to", to], "pipe", signal), packLayer(from, idMap, signal));
}
