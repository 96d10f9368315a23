import { type IdMap, SHIFT_BASE, SHIFT_COUNT } from "../base/id-map.ts";

/** How the programs of the host side are told the id map. */
export const idMapArguments = (idMap: IdMap): string[] =>
  idMap.kind === "shifted" ? ["--shift-base", String(SHIFT_BASE), "--shift-count", String(SHIFT_COUNT)] : ["--single"];
