import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { workspace } from "../../test/helpers/stored-records.ts";
import { formatTime } from "../base/local-time.ts";
import type { Store } from "../contracts/store.ts";
import type { EventOf } from "../model/event.ts";
import { openStore } from "../store/open-store.ts";
import { findWorkspace } from "./find-workspace.ts";
import { runKey } from "./made-for-run.ts";

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-find-"));
  const opened = openStore(join(folder, "store.sqlite"));
  if (opened === "locked") throw new Error("locked");
  store = opened;
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const idOf = (nth: number): string => `ws-${String(nth).padStart(10, "a")}`;
const add = (id: string, name: string | null = null, state: "started" | "creating" | "deleting" = "started") =>
  store.insertWorkspace(workspace(id, { name, state }));
const find = (word: string) => findWorkspace(store, word).workspaceId;
const failing = (code: string, message: string) => expect.objectContaining({ code, message }) as Error;
const gone = (workspace_id: string, name: string | null, because: "asked" | "expired", time = 0) => {
  const head = { kind: "workspace.deleted", workspace_id, identity: null, time } as const;
  const told: Omit<EventOf<"workspace.deleted">, "sequence"> = { ...head, name, labels: { team: "a" }, because };
  store.appendEvent(told);
};

describe("a word means", () => {
  it("a workspace of that id, else of that name, else the only one whose id starts so", () => {
    add(idOf(1), "one");
    add(idOf(2), idOf(1)); // the id of the first as its name
    add("ws-bbbbbbbbb1", "two");
    add("ws-bbbbbbbbb2", "ws-b");
    expect(find(idOf(1))).toBe(idOf(1));
    expect(find("two")).toBe("ws-bbbbbbbbb1");
    expect(find("ws-b")).toBe("ws-bbbbbbbbb2");
    expect(find("ws-aaaaaaaaa1".slice(0, 13))).toBe(idOf(1));
    expect(find("ws-aaaaaaaaa2")).toBe(idOf(2));
    store.deleteWorkspace("ws-bbbbbbbbb1");
    expect(find("ws-bbbb")).toBe("ws-bbbbbbbbb2");
  });

  it("the workspace of a run by the identity of that run, whatever name that one or another one has (G-33)", () => {
    store.insertWorkspace(workspace("ws-bbbbbbbbb1", { name: "renamed", idempotencyKey: runKey("tester-12345") }));
    expect(find("tester-12345")).toBe("ws-bbbbbbbbb1");
    add("ws-bbbbbbbbb2", "tester-12345");
    expect(find("tester-12345")).toBe("ws-bbbbbbbbb1");
    expect(find("renamed")).toBe("ws-bbbbbbbbb1");
    store.deleteWorkspace("ws-bbbbbbbbb1");
    expect(find("tester-12345")).toBe("ws-bbbbbbbbb2");
  });

  it("none when several have the name or the beginning, and says which", () => {
    add("ws-bbbbbbbbb1", "twin");
    add("ws-bbbbbbbbb2", "twin");
    const both = "ws-bbbbbbbbb1, ws-bbbbbbbbb2";
    expect(() => find("twin")).toThrow(
      failing("WORKSPACE_AMBIGUOUS", `More than one workspace is named "twin": ${both}`),
    );
    expect(() => find("ws-b")).toThrow(
      failing("WORKSPACE_AMBIGUOUS", `More than one workspace id starts with "ws-b": ${both}`),
    );
    for (let nth = 3; nth < 10; nth++) add(`ws-bbbbbbbbb${nth}`, "twin");
    expect(() => find("twin")).toThrow(/and 4 more$/);
  });

  it("nothing that is not there yet, or not any more", () => {
    add("ws-bbbbbbbbb1", "twin", "creating");
    add("ws-bbbbbbbbb2", "twin", "deleting");
    expect(() => find("ws-bbbbbbbbb2")).toThrow(/"ws-bbbbbbbbb2": it is being deleted$/);
    for (const word of ["twin", "ws-b", "ws-bbbbbbbbb1", "ws-%", "", "toString"])
      expect(() => find(word), word).toThrow(failing("WORKSPACE_NOT_FOUND", `There is no workspace "${word}"`));
    add("ws-bbbbbbbbb3", "twin");
    expect(find("twin")).toBe("ws-bbbbbbbbb3");
    expect(find("ws-b")).toBe("ws-bbbbbbbbb3");
  });

  it("a name that looks like an id, as long as there has been no such id", () => {
    add("ws-bbbbbbbbb1", "ws-0000000000");
    expect(find("ws-0000000000")).toBe("ws-bbbbbbbbb1");
  });

  it("never another one than that of its id, also when that is gone and somebody has taken it as a name (G-33)", () => {
    add("ws-bbbbbbbbb1", "ws-0000000000");
    gone("ws-0000000000", null, "asked");
    expect(() => find("ws-0000000000")).toThrow(/^There is no workspace "ws-0000000000": it was deleted/);
    add("ws-bbbbbbbbb2", null, "deleting");
    store.updateWorkspace("ws-bbbbbbbbb1", { name: "ws-bbbbbbbbb2" });
    expect(() => find("ws-bbbbbbbbb2")).toThrow(/"ws-bbbbbbbbb2": it is being deleted$/);
  });
});

describe("one that is gone", () => {
  it("is told of by its id and by its last name, with how and when it went", () => {
    gone(idOf(1), "first", "expired", 1);
    gone(idOf(2), "first", "asked", 2);
    expect(() => find(idOf(1))).toThrow(
      failing(
        "WORKSPACE_NOT_FOUND",
        `There is no workspace "${idOf(1)}": it was deleted by its time to live at ${formatTime(1)}`,
      ),
    );
    expect(() => find("first")).toThrow(
      failing(
        "WORKSPACE_NOT_FOUND",
        `There is no workspace "first": ${idOf(2)} of that name was deleted at ${formatTime(2)} by delete`,
      ),
    );
    const details = { workspace_id: idOf(2), name: "first", labels: { team: "a" }, because: "asked", deleted_at: 2 };
    expect(() => find("first")).toThrow(expect.objectContaining({ details }) as Error);
    add(idOf(3), "first");
    expect(find("first")).toBe(idOf(3));
  });

  it("and was told of by an older version is gone all the same", () => {
    store.appendEvent({ kind: "workspace.deleted", workspace_id: idOf(1), identity: null, time: 1 } as never);
    expect(() => find(idOf(1))).toThrow(`it was deleted at ${formatTime(1)} by delete`);
    expect(() => find("first")).toThrow(failing("WORKSPACE_NOT_FOUND", 'There is no workspace "first"'));
  });
});
