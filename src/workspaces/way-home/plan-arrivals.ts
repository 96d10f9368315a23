import type { ByteText } from "../../policy/byte-text.ts";
import { type Arrival, bringHome, type HomeChange, type HomeState } from "../../policy/way-home/bring-home.ts";
import { foldersAbove } from "../read-named-files.ts";
import type { Checkout, TrackedFile } from "./checkout.ts";
import { lookAt, stateOfBlob } from "./host-states.ts";
import { type LinkedTree, treeOnDisk } from "./safe-links.ts";

/** A change, what the host has in its place, and what comes of it. */
export interface Arriving {
  readonly change: HomeChange;
  readonly host: HomeState | undefined;
  readonly arrival: Arrival;
}

/** A checkout as changes meet it: its files in the work tree, or those of its last commit. */
export interface Landing {
  readonly files: ReadonlyMap<ByteText, TrackedFile>;
  /** All that links of the changes may come to lie in. */
  readonly trees: readonly LinkedTree[];
  arrive(change: HomeChange): Arriving;
}

const conflict = (change: HomeChange, host: HomeState | undefined, reason: string): Arriving => ({
  change,
  host,
  arrival: { kind: "conflicts", reason },
});

/** SECURITY: nothing that is not committed is written over, whatever else the sandbox and the host agree on (G-80). */
export async function landOnFiles(checkout: Checkout): Promise<Landing> {
  const files = await checkout.committedFiles();
  return {
    files,
    trees: [treeOnDisk(checkout.path)],
    arrive(change) {
      const { path } = change;
      const isForeign = foldersAbove(path).some((folder) => files.get(folder)?.mode === SUBMODULE);
      if (isForeign) return conflict(change, undefined, "it is in a submodule");
      const place = lookAt(checkout.path, path);
      if ("obstacle" in place) return conflict(change, undefined, place.obstacle);
      const { state: host } = place;
      const arrival = bringHome(change, host);
      const isWritten = arrival.kind === "applies" || arrival.kind === "merges";
      if (isWritten && host && !files.has(path)) return conflict(change, host, "it is not committed");
      return { change, host, arrival };
    },
  };
}

export async function landOnCommit(
  checkout: Checkout,
  commit: string,
  changes: readonly HomeChange[],
): Promise<Landing> {
  const files = await checkout.filesOf(commit);
  const wanted = changes.flatMap(({ path }) => files.get(path) ?? []).filter(({ mode }) => mode !== SUBMODULE);
  const contents = await checkout.contents([...new Set(wanted.map(({ object }) => object))]);
  return {
    files,
    // Who checks the branch out has it among all that is there.
    trees: [await treeOfCommit(checkout, files), treeOnDisk(checkout.path)],
    arrive(change) {
      const { path } = change;
      const isForeign = [path, ...foldersAbove(path)].some((one) => files.get(one)?.mode === SUBMODULE);
      if (isForeign) return conflict(change, undefined, "it is in a submodule");
      const file = files.get(path);
      const host = file && stateOfBlob(file, contents.get(file.object) ?? Buffer.alloc(0));
      return { change, host, arrival: bringHome(change, host) };
    },
  };
}

const SUBMODULE = "160000";

async function treeOfCommit(checkout: Checkout, files: ReadonlyMap<ByteText, TrackedFile>): Promise<LinkedTree> {
  const links = new Map([...files].filter(([, { mode }]) => mode === "120000"));
  const contents = await checkout.contents([...new Set([...links.values()].map(({ object }) => object))]);
  const folders = new Set([...files.keys()].flatMap(foldersAbove));
  return {
    isFolder: (path) => folders.has(path),
    linkAt(path) {
      const link = links.get(path);
      return link && (contents.get(link.object)?.toString("latin1") ?? "");
    },
  };
}
