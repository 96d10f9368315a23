import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { workspace } from "../../test/helpers/stored-records.ts";
import { silentLog } from "../base/log.ts";
import type { Store } from "../contracts/store.ts";
import { EventLog } from "../events/event-log.ts";
import { openStore } from "../store/open-store.ts";
import type { Dependencies } from "./dependencies.ts";
import { Journal } from "./journal.ts";
import { createOperations, type WorkspaceOperations } from "./operations/create-operations.ts";
import { Services } from "./services/services.ts";
import { Shells } from "./shells/shells.ts";
import type { CallContext } from "./verb.ts";
import { Workspaces } from "./workspaces.ts";

const ID = `ws-${"a".repeat(12)}`;
const NOW = 70;
const CONTEXT: CallContext = { signal: new AbortController().signal, progress: () => undefined };

let folder: string;
let store: Store;
let events: EventLog;
let workspaces: Workspaces;
let operations: WorkspaceOperations;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-act-"));
  const opened = openStore(join(folder, "store.sqlite"));
  if (opened === "locked") throw new Error("locked");
  store = opened;
  const clock = { now: () => NOW };
  events = new EventLog({ store, clock, log: silentLog });
  const journal = new Journal({ store, events, clock, log: silentLog });
  const deps = { store, journal, events, clock, log: silentLog, backends: new Map() };
  const services = new Services(deps as unknown as Dependencies);
  const shells = new Shells(deps as unknown as Dependencies);
  workspaces = new Workspaces(deps as unknown as Dependencies, services, shells);
  operations = createOperations({ deps: deps as unknown as Dependencies, workspaces, services, shells }, () => {
    throw new Error("nobody asks for a bottle here");
  });
  store.insertWorkspace(workspace(ID, { state: "stopped", lastActivityAt: 9 }));
});
afterEach(() => {
  events.close();
  store.close();
  rmSync(folder, { recursive: true });
});

const lastActivity = () => store.findWorkspace(ID)?.lastActivityAt;

it("finds the workspace by the start of its id, and counts as activity what the operation's row says", async () => {
  expect(await workspaces.act("listSnapshots", "ws-aa", ({ workspaceId }) => workspaceId)).toBe(ID);
  expect(lastActivity()).toBe(9);
  expect(await workspaces.act("createSnapshot", "ws-aa", ({ workspaceId }) => workspaceId)).toBe(ID);
  expect(lastActivity()).toBe(NOW);
});

it("does not count what failed", async () => {
  const failing = workspaces.act("createSnapshot", ID, () => Promise.reject(new Error("no")));
  await expect(failing).rejects.toThrow("no");
  expect(lastActivity()).toBe(9);
});

it("tells why there is no sandbox, and what became of a workspace that was deleted meanwhile", async () => {
  await expect(operations.readWorkspaceFile({ workspace_id: ID, path: "a" }, CONTEXT)).rejects.toMatchObject({
    code: "WORKSPACE_NOT_RUNNING",
  });
  const late = workspaces.act("statusWorkspace", ID, (found) => {
    store.deleteWorkspace(ID);
    return found.stored;
  });
  await expect(late).rejects.toMatchObject({ code: "WORKSPACE_NOT_FOUND" });
});

it("an id that no workspace has fails before the verb begins", async () => {
  let begun = false;
  const acting = workspaces.act("statusWorkspace", "ws-zz", () => (begun = true));
  await expect(acting).rejects.toMatchObject({ code: "WORKSPACE_NOT_FOUND" });
  expect(begun).toBe(false);
});
