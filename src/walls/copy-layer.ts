import type { IdMap } from "../base/id-map.ts";
import { idMapArguments } from "./id-map-arguments.ts";
import { makeLayer, printedBytes, startLayerTool } from "./layer-tool.ts";

/** Copies a writable layer, which a sandbox may be writing to, into the new folder `target`; gives the bytes of its files. */
export async function copyLayer(
  source: string,
  target: string,
  idMap: IdMap,
  signal: AbortSignal | undefined,
): Promise<number> {
  return await makeLayer(target, idMap, (folder) =>
    printedBytes(
      startLayerTool(["copy-layer", "--from", source, "--to", folder, ...idMapArguments(idMap)], "ignore", signal),
    ),
  );
}
