import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { entry, service, shell, snapshot, workspace } from "../../test/helpers/stored-records.ts";
import type { Store } from "../contracts/store.ts";
import { openStore } from "./open-store.ts";

let folder: string;
const opened: Store[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-store-"));
});
afterEach(() => {
  for (const store of opened.splice(0)) store.close();
  rmSync(folder, { recursive: true });
});

function open(): Store {
  const store = openStore(join(folder, "store.sqlite"));
  if (store === "locked") throw new Error("locked");
  opened.push(store);
  return store;
}

function reopen(): Store {
  opened.pop()?.close();
  return open();
}

describe("a workspace's session", () => {
  it("begins anew with a reset, which keeps the snapshots and touches no other workspace", () => {
    const store = open();
    for (const id of ["ws-a", "ws-b"]) {
      store.insertWorkspace(workspace(id));
      store.beginCommand(id, entry({ workspace_id: id }));
      store.putService(id, service("web"));
      store.putShell(id, shell("sh-1"));
      store.insertSnapshot(id, snapshot("mid"));
    }
    const fields = { resetCount: 1, generation: 2, sessionStartedAt: 300, layers: ["l-9"] };
    store.resetWorkspace("ws-a", fields);
    expect(store.findWorkspace("ws-a")).toEqual(workspace("ws-a", fields));
    const lists = (id: string) => [
      store.countCommands(id),
      store.listServices(id).length,
      store.listShells(id).length,
      store.listSnapshots(id).length,
    ];
    expect(lists("ws-a")).toEqual([0, 0, 0, 1]);
    expect(lists("ws-b")).toEqual([1, 1, 1, 1]);
    expect(store.beginCommand("ws-a", entry())).toBe(1);
    expect(() => store.resetWorkspace("ws-c", {})).toThrow(expect.objectContaining({ code: "WORKSPACE_NOT_FOUND" }));
  });

  it("goes with its workspace, and nothing is written for one that is gone", () => {
    const store = open();
    store.insertWorkspace(workspace("ws-a"));
    store.insertSnapshot("ws-a", snapshot("mid"));
    store.putService("ws-a", service("web"));
    store.putShell("ws-a", shell("sh-1"));
    store.deleteWorkspace("ws-a");
    store.insertWorkspace(workspace("ws-a"));
    expect(store.listSnapshots("ws-a")).toEqual([]);
    expect(store.listServices("ws-a")).toEqual([]);
    expect(store.listShells("ws-a")).toEqual([]);
    const gone = expect.objectContaining({ code: "WORKSPACE_NOT_FOUND" }) as Error;
    expect(() => store.insertSnapshot("ws-b", snapshot("mid"))).toThrow(gone);
    expect(() => store.putService("ws-b", service("web"))).toThrow(gone);
    expect(() => store.putShell("ws-b", shell("sh-1"))).toThrow(gone);
  });
});

describe("a larger transaction", () => {
  it("is there as a whole, with commands under the numbers they had", () => {
    const store = open();
    store.insertWorkspace(workspace("ws-a"));
    store.beginCommand("ws-a", entry());
    store.transaction(() => {
      store.resetWorkspace("ws-a", { resetCount: 1 });
      store.putService("ws-a", service("web"));
      store.insertCommand("ws-a", { ...entry({ workspace_id: "ws-other" }), sequence: 7, state: "running" });
    });
    expect(store.listRunningCommands().map((one) => [one.workspace_id, one.sequence])).toEqual([["ws-a", 7]]);
    expect(store.beginCommand("ws-a", entry())).toBe(8);
    expect(store.listServices("ws-a")).toEqual([service("web")]);
  });

  it("is not there at all when a part of it fails", () => {
    const store = open();
    store.insertWorkspace(workspace("ws-a"));
    store.putService("ws-a", service("web"));
    const broken = () =>
      store.transaction(() => {
        store.resetWorkspace("ws-a", { resetCount: 1 });
        throw new Error("in the middle");
      });
    expect(broken).toThrow("in the middle");
    expect(store.listServices("ws-a")).toEqual([service("web")]);
    expect(store.findWorkspace("ws-a")?.resetCount).toBe(0);
  });
});

describe("snapshots", () => {
  it("are found by name, listed oldest first, and have a name once", () => {
    open().insertWorkspace(workspace("ws-a"));
    const store = reopen();
    expect(store.insertSnapshot("ws-a", snapshot("late", { createdAt: 20 }))).toBe(true);
    expect(store.insertSnapshot("ws-a", snapshot("early", { layers: ["l-1"] }))).toBe(true);
    expect(store.insertSnapshot("ws-a", snapshot("early", { sizeBytes: 1 }))).toBe(false);
    expect(store.findSnapshot("ws-a", "early")).toEqual(snapshot("early", { layers: ["l-1"] }));
    expect(store.listSnapshots("ws-a").map((one) => one.snapshotName)).toEqual(["early", "late"]);
    expect(store.deleteSnapshot("ws-a", "early")).toBe(true);
    expect(store.deleteSnapshot("ws-a", "early")).toBe(false);
    expect(store.findSnapshot("ws-a", "early")).toBeUndefined();
    expect(store.findSnapshot("ws-b", "late")).toBeUndefined();
  });

  it("and workspaces name every layer that is in use", () => {
    const store = open();
    store.insertWorkspace(workspace("ws-a", { layers: ["l-1", "l-2"] }));
    store.insertWorkspace(workspace("ws-b"));
    store.insertSnapshot("ws-b", snapshot("mid", { layers: ["l-2", "l-3"] }));
    expect(store.listLayers()).toEqual(new Set(["l-1", "l-2", "l-3"]));
    store.deleteWorkspace("ws-b");
    expect(store.listLayers()).toEqual(new Set(["l-1", "l-2"]));
  });
});

describe("services and shells", () => {
  it("are put again in place, and come back from the disk as they were", () => {
    const store = open();
    store.insertWorkspace(workspace("ws-a"));
    store.putService("ws-a", service("web", { command: "npm start", readiness: null, publishedPorts: [] }));
    store.putService("ws-a", service("db"));
    const ended = service("web", { state: "failed", readyAt: null, endedAt: 9, exitCode: 3 });
    store.putService("ws-a", ended);
    for (const id of ["sh-b", "sh-a"]) store.putShell("ws-a", shell(id));
    store.putShell("ws-a", shell("sh-b", { state: "exited", exitCode: 0 }));
    const again = reopen();
    expect(again.listServices("ws-a")).toEqual([service("db"), ended]);
    expect(again.findService("ws-a", "web")).toEqual(ended);
    expect(again.findService("ws-a", "none")).toBeUndefined();
    expect(again.listShells("ws-a")).toEqual([shell("sh-b", { state: "exited", exitCode: 0 }), shell("sh-a")]);
    again.deleteShell("ws-a", "sh-b");
    expect(again.findShell("ws-a", "sh-b")).toBeUndefined();
    expect(again.findShell("ws-a", "sh-a")).toEqual(shell("sh-a"));
  });
});
