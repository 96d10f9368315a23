import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { entry, workspace } from "../../test/helpers/stored-records.ts";
import { silentLog } from "../base/log.ts";
import type { Store } from "../contracts/store.ts";
import { EventLog } from "../events/event-log.ts";
import { openStore } from "../store/open-store.ts";
import { Journal } from "./journal.ts";

let folder: string;
let store: Store;
let events: EventLog;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-journal-"));
  const opened = openStore(join(folder, "store.sqlite"));
  if (opened === "locked") throw new Error("locked");
  store = opened;
  events = new EventLog({ store, clock: { now: () => 7 }, log: silentLog });
  store.insertWorkspace(workspace("ws-a"));
});
afterEach(() => {
  events.close();
  store.close();
  rmSync(folder, { recursive: true });
});

const journal = () => new Journal({ store, events, clock: { now: () => 7 }, log: silentLog });
const told = () =>
  store
    .readEvents(0, {}, 100)
    .events.map((event) => [event.kind, "command_sequence" in event && event.command_sequence]);

it("tells the start and the end of each command, in that order", () => {
  const one = journal();
  const [first, second] = [one.begin("ws-a", entry()), one.begin("ws-a", entry())];
  one.end("ws-a", second, { exit_code: 3 });
  one.end("ws-a", first, { state: "lost", exit_code: 125 });
  one.flush();
  expect(told()).toEqual([
    ["command.started", 1],
    ["command.started", 2],
    ["command.ended", 2],
    ["command.ended", 1],
  ]);
  expect(store.readEvents(2, {}, 100).events).toMatchObject([
    { state: "done", exit_code: 3 },
    { state: "lost", exit_code: 125 },
  ]);
});

it("writes what can be written when one of many cannot, each once", () => {
  const one = journal();
  const written: string[] = [];
  const first = one.begin("ws-a", entry());
  one.end("ws-a", first, { exit_code: 0 }, () => written.push("first"));
  one.end("ws-a", 99, { exit_code: 0 }, () => written.push("none"));
  one.flush();
  expect(written).toEqual(["first"]);
  expect(told()).toEqual([
    ["command.started", 1],
    ["command.ended", 1],
  ]);
});

it("tells the starts that a daemon had no time to tell, and no other again", () => {
  const dead = journal();
  dead.begin("ws-a", entry());
  dead.flush();
  dead.begin("ws-a", entry()); // and then it is gone
  const next = journal();
  next.loseRunning("ws-a");
  expect(told()).toEqual([
    ["command.started", 1],
    ["command.started", 2],
    ["command.ended", 1],
    ["command.ended", 2],
  ]);
});
