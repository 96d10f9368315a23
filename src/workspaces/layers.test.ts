import { mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { currentIdMap } from "../base/id-map.ts";
import { silentLog } from "../base/log.ts";
import type { Backend } from "../contracts/backend.ts";
import type { Store } from "../contracts/store.ts";
import { openStore } from "../store/open-store.ts";
import { makeLayer } from "../walls/layer-tool.ts";
import { Layers } from "./layers.ts";
import { Trash } from "./trash.ts";

let home: string;
let store: Store;
let layers: Layers;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "cloche-layers-"));
  const opened = openStore(join(home, "store.sqlite"));
  if (opened === "locked") throw new Error("locked");
  store = opened;
  layers = new Layers(home, { store, backends: new Map(), trash: new Trash(home, silentLog) });
});
afterEach(() => {
  store.close();
  rmSync(home, { recursive: true });
});

const kept = ([id = ""]: readonly string[]): string => readFileSync(join(layers.path(id), "file"), "utf8");

describe("somebody cleans up while a layer is made", () => {
  it("and leaves one that is copied", async () => {
    const copyLayer = (_directory: string, target: string): Promise<number> =>
      makeLayer(target, currentIdMap(), async (folder) => {
        writeFileSync(join(folder, "file"), "kept");
        await layers.prune();
        return 4;
      });
    const backend = { copyLayer } as unknown as Backend;
    expect(await layers.add(backend, { directory: "", layers: [] }, kept)).toBe("kept");
  });

  it("and leaves a machine that is saved", async () => {
    const save = async (target: string): Promise<number> => {
      mkdirSync(`${target}.tmp`);
      writeFileSync(`${target}.tmp/file`, "kept");
      await layers.prune();
      renameSync(`${target}.tmp`, target);
      return 4;
    };
    expect(await layers.addMachine([], save, kept)).toBe("kept");
  });

  it("and takes what nobody makes any more", async () => {
    mkdirSync(layers.path("ly-left.0123abcd.tmp"), { recursive: true });
    await layers.prune();
    expect(readdirSync(join(home, "layers"))).toEqual([]);
  });

  it("and several clean up at once", async () => {
    for (const id of ["ly-one", "ly-two", "ly-three"]) {
      mkdirSync(layers.path(id), { recursive: true });
      for (let file = 0; file < 200; file++) writeFileSync(join(layers.path(id), String(file)), "");
    }
    await Promise.all(Array.from({ length: 6 }, () => layers.prune()));
    expect(readdirSync(join(home, "layers"))).toEqual([]);
  });
});
