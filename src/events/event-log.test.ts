import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRandom } from "../../test/helpers/random.ts";
import { workspace, written } from "../../test/helpers/stored-records.ts";
import { silentLog } from "../base/log.ts";
import type { EventFilter, NewEvent } from "../contracts/events.ts";
import type { Store } from "../contracts/store.ts";
import type { ClocheEvent, EventKind, EventPage } from "../model/event.ts";
import { Redactor } from "../policy/redactor.ts";
import { openStore } from "../store/open-store.ts";
import { EventLog, type Retention } from "./event-log.ts";

const KEEP_ALL: Retention = { maxAgeSeconds: 1000, maxBytes: 1024 * 1024 * 1024 };

let folder: string;
let store: Store;
let log: EventLog;
let now: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-events-"));
  now = 1000;
  open();
});
afterEach(() => {
  close();
  rmSync(folder, { recursive: true });
});

function open(retention = KEEP_ALL): void {
  const opened = openStore(join(folder, "store.sqlite"));
  if (opened === "locked") throw new Error("locked");
  store = opened;
  log = new EventLog({ store, clock: { now: () => now }, log: silentLog, retention });
}

function close(): void {
  log.close();
  store.close();
}

function reopen(retention = KEEP_ALL): void {
  close();
  open(retention);
}

const told = (number: number, workspaceId = "ws-a") => written(`/workspace/${number}`, workspaceId);
const tell = (from: number, to: number) => {
  for (let number = from; number <= to; number++) log.record(told(number));
};
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
const sequences = (events: readonly ClocheEvent[]) => events.map(({ sequence }) => sequence);

async function collect(pages: AsyncIterable<EventPage>): Promise<ClocheEvent[]> {
  const all: ClocheEvent[] = [];
  for await (const { events } of pages) all.push(...events);
  return all;
}
const read = async (since = 0, filter: EventFilter = {}) => await collect(log.read(since, filter));

/** Follows the log until it has seen so many events. */
async function follow(since: number, count: number, filter: EventFilter = {}): Promise<ClocheEvent[]> {
  const all: ClocheEvent[] = [];
  for await (const { events } of log.follow(since, filter, new AbortController().signal)) {
    all.push(...events);
    if (all.length >= count) break;
  }
  return all;
}

describe("the log", () => {
  it("gives each event the next place and the time, and has them after a restart", async () => {
    log.record(told(1));
    now = 7.25;
    log.record({ ...told(2), workspace_id: null, identity: "reviewer-k3x9a" });
    reopen();
    log.record(told(3));
    expect(await read()).toEqual([
      { sequence: 1, time: 1000, identity: null, ...told(1) },
      { sequence: 2, time: 7.25, ...told(2), workspace_id: null, identity: "reviewer-k3x9a" },
      { sequence: 3, time: 7.25, identity: null, ...told(3) },
    ]);
  });

  it("outlives the reset and the deletion of what it tells of", async () => {
    store.insertWorkspace(workspace("ws-a"));
    log.record(told(1));
    store.resetWorkspace("ws-a", { resetCount: 1 });
    store.deleteWorkspace("ws-a");
    expect(await read()).toMatchObject([told(1)]);
  });

  it("has an event exactly when it has what was written with it", async () => {
    expect(() =>
      store.transaction(() => {
        store.insertWorkspace(workspace("ws-a"));
        log.record(told(1));
        throw new Error("in the middle");
      }),
    ).toThrow("in the middle");
    expect(await read()).toEqual([]);
    log.record(told(2));
    expect(await read()).toMatchObject([{ sequence: 1, ...told(2) }]);
  });

  it("is read by workspace, by run and by kind, and a page tells how far it has looked", async () => {
    for (let number = 1; number <= 600; number++) log.record(told(number, number % 2 ? "ws-a" : "ws-b"));
    log.record({
      kind: "run.ended",
      workspace_id: "ws-a",
      identity: "r-1",
      exit_code: 0,
      kept: false,
      reason: null,
      has_changes: false,
    });
    expect(await read(0, { workspaceId: "ws-b" })).toHaveLength(300);
    expect(sequences(await read(0, { identity: "r-1" }))).toEqual([601]);
    expect(sequences(await read(0, { identity: "r-1", workspaceId: "ws-b" }))).toEqual([]);
    expect(sequences(await read(0, { workspaceId: "ws-a", kinds: new Set(["run.ended"]) }))).toEqual([601]);
    const pages: number[] = [];
    for await (const page of log.read(0, { kinds: new Set<EventKind>(["run.ended"]) })) pages.push(page.through);
    expect(pages).toEqual([256, 512, 601]);
    expect(await read(601)).toEqual([]);
  });

  it("has less in a page when events are long", async () => {
    for (let number = 1; number <= 40; number++) log.record(written("x".repeat(2000).repeat(number % 2)));
    for (let number = 1; number <= 40; number++)
      log.record({
        kind: "push.held",
        workspace_id: null,
        repo: "a",
        refs: Array.from({ length: 7 }, () => "r".repeat(2000)),
        proposal_id: "p",
      });
    const sizes: number[] = [];
    for await (const { events } of log.read(0, {})) sizes.push(JSON.stringify(events).length);
    expect(sizes.length).toBeGreaterThan(4);
    expect(Math.max(...sizes)).toBeLessThan(150 * 1024);
    expect(await read()).toHaveLength(80);
  });

  it("refuses a place that there has never been", async () => {
    tell(1, 3);
    await expect(read(4)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      hint: expect.stringContaining("3") as string,
    });
    await expect(follow(4, 1)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("tells of the newest session of a workspace", () => {
    log.record(told(1));
    log.record({ kind: "workspace.reset", workspace_id: "ws-a", snapshot_name: "baseline", reset_count: 1 });
    log.record({ kind: "workspace.reset", workspace_id: "ws-b", snapshot_name: "baseline", reset_count: 1 });
    tell(4, 5);
    expect(sequences(log.session("ws-a", ["file.written"]))).toEqual([4, 5]);
    expect(log.session("ws-a", ["export.made"])).toEqual([]);
  });
});

describe("a watcher", () => {
  it("gets what was and what comes, each once and in order", async () => {
    tell(1, 300);
    const watching = follow(10, 590);
    for (let number = 301; number <= 600; number += 10) {
      tell(number, number + 9);
      await nextTurn();
    }
    expect(sequences(await watching)).toEqual(Array.from({ length: 590 }, (_, index) => index + 11));
  });

  it("is woken once the transaction is over, and not to what was rolled back", async () => {
    const seen: string[] = [];
    const watching = follow(0, 1).then(() => seen.push("woken"));
    await nextTurn();
    expect(() =>
      store.transaction(() => {
        log.record(told(1));
        throw new Error("rolled back");
      }),
    ).toThrow("rolled back");
    await nextTurn();
    await nextTurn();
    expect(seen).toEqual([]);
    log.record(told(2));
    await watching;
    expect(seen).toEqual(["woken"]);
  });

  it("that does not read holds nothing, and reads on where it was", async () => {
    const pages = log.follow(0, {}, new AbortController().signal)[Symbol.asyncIterator]();
    tell(1, 5000);
    await nextTurn();
    const sizes: number[] = [];
    const seen: number[] = [];
    while (seen.length < 5000) {
      const { value } = (await pages.next()) as { value: EventPage };
      sizes.push(value.events.length);
      seen.push(...sequences(value.events));
    }
    expect(Math.max(...sizes)).toBe(256);
    expect(seen).toEqual(Array.from({ length: 5000 }, (_, index) => index + 1));
    await pages.return();
  });

  it("ends when it is told to, also while it waits", async () => {
    const enough = new AbortController();
    const watching = collect(log.follow(0, {}, enough.signal));
    await nextTurn();
    enough.abort();
    expect(await watching).toEqual([]);
  });

  it("that is behind what is kept is told which events it missed, whatever it asked for", async () => {
    tell(1, 300);
    log.record({ kind: "shell.closed", workspace_id: "ws-a", shell_id: "sh-1" });
    expect(store.dropEvents({ sinceTime: 0, maxBytes: 20_000, keepAfter: Infinity }, 1000)).toBeGreaterThan(100);
    const { oldest } = store.eventBounds();
    const gap = { sequence: oldest - 1, kind: "log.gap", first_missing: 8, last_missing: oldest - 1 };
    const kinds: ReadonlySet<EventKind> = new Set(["shell.closed"]);
    expect(await read(7, { kinds })).toMatchObject([gap, { sequence: 301, kind: "shell.closed" }]);
    expect(await follow(7, 2, { kinds })).toMatchObject([gap, { sequence: 301, kind: "shell.closed" }]);
    expect(await read(oldest - 1, { kinds })).toMatchObject([{ sequence: 301 }]);
  });
});

describe("what is kept", () => {
  const settled = async () => {
    for (let turn = 0; turn < 200; turn++) await nextTurn();
  };

  it("is bounded by size, from the old end, while events come", async () => {
    reopen({ ...KEEP_ALL, maxBytes: 50_000 });
    for (let number = 1; number <= 5000; number += 50) {
      tell(number, number + 49);
      await nextTurn();
    }
    await settled();
    const kept = (await read(store.eventBounds().oldest - 1)).length;
    // An event of this test takes about 170 bytes; up to 128 may be there before it is looked again.
    expect(kept).toBeGreaterThan(200);
    expect(kept).toBeLessThan(500);
    expect(store.eventBounds().newest).toBe(5000);
  });

  it("is bounded by age, and a daemon that starts looks at once", async () => {
    tell(1, 700);
    now += 999;
    tell(701, 710);
    reopen();
    await settled();
    expect(store.eventBounds().oldest).toBe(1);
    now += 2;
    reopen();
    await settled();
    expect(store.eventBounds()).toEqual({ oldest: 701, newest: 710 });
  });

  it("always has the newest event, so that no sequence is given twice", async () => {
    tell(1, 300);
    now += 5000;
    reopen();
    await settled();
    expect(store.eventBounds()).toEqual({ oldest: 300, newest: 300 });
    log.record(told(301));
    expect(sequences(await read(299))).toEqual([300, 301]);
  });

  it("stays in order when the clock goes backwards, and goes when there is too much of it", async () => {
    now = 90_000;
    tell(1, 2);
    now = 1000;
    tell(3, 300);
    expect(sequences(await read()).at(-1)).toBe(300);
    now = 50_000;
    reopen();
    await settled();
    expect(store.eventBounds().oldest).toBe(1);
    reopen({ ...KEEP_ALL, maxBytes: 1000 });
    await settled();
    expect(store.eventBounds().oldest).toBeGreaterThan(250);
  });
});

describe("an event", () => {
  it("holds no value that was to be concealed, in names and lists too (G-29)", async () => {
    const secret = "hunter2-hunter2";
    log.conceal("ws-a", new Redactor([secret]));
    const hidden = { name: secret, labels: { [secret]: `x${secret}` } };
    log.record({ kind: "workspace.updated", workspace_id: "ws-a", ...hidden, ttl_seconds: 1, keep: false });
    log.record({ kind: "workspace.deleted", workspace_id: "ws-a", ...hidden, because: "asked" });
    log.record({
      kind: "command.started",
      workspace_id: "ws-a",
      command_sequence: 1,
      command: ["echo", secret],
      cwd: "/",
    });
    // Cut where it would be in half: what is left over must not be a part of it.
    for (let before = 1980; before <= 2000; before++) log.record(written(`${"x".repeat(before)}${secret}`));
    const text = JSON.stringify(await read());
    expect(text).toContain("[REDACTED]");
    expect(text).not.toContain(secret.slice(0, 4));
  });
});

// A plain array beside the log: what a watcher sees is what was told, whatever is done to both in between.
describe.each([1, 2, 3])("a random life of the log, seed %i", (seed) => {
  it("gives every watcher each event once and in order, or tells it of the gap", async () => {
    const random = createRandom(seed);
    const model: NewEvent[] = [];
    const watchers: { filter: EventFilter; from: number; at: number; seen: number[]; missed: Set<number> }[] = [];
    const matches = ({ workspaceId, kinds }: EventFilter, event: NewEvent) =>
      (workspaceId === undefined || event.workspace_id === workspaceId) && (!kinds || kinds.has(event.kind));
    const filters: EventFilter[] = [{}, { workspaceId: "ws-1" }, { kinds: new Set(["shell.closed"]) }];
    const event = (): NewEvent => {
      const workspace_id = `ws-${random(3)}`;
      return random(4) === 0
        ? { kind: "shell.closed", workspace_id, shell_id: `sh-${model.length}` }
        : written(`/workspace/${model.length}`, workspace_id);
    };
    const steps: (() => Promise<void> | void)[] = [
      () => {
        for (let count = random(300); count >= 0; count--) {
          const one = event();
          model.push(one);
          log.record(one);
        }
      },
      () => {
        try {
          store.transaction(() => {
            log.record(event());
            throw new Error("undone");
          });
        } catch {
          // As asked.
        }
      },
      () =>
        void watchers.push({
          filter: filters[random(3)]!,
          from: model.length,
          at: model.length,
          seen: [],
          missed: new Set(),
        }),
      async () => {
        // Comes back after a while away, reads some pages and is gone again.
        const watcher = watchers[random(Math.max(1, watchers.length))];
        if (!watcher) return;
        let pages = random(4);
        for await (const page of log.read(watcher.at, watcher.filter)) {
          for (const one of page.events) {
            if (one.kind !== "log.gap") watcher.seen.push(one.sequence);
            else for (let lost = one.first_missing; lost <= one.last_missing; lost++) watcher.missed.add(lost);
          }
          watcher.at = page.through;
          if (pages-- === 0) break;
        }
      },
      () => reopen({ maxAgeSeconds: 1000 + random(5) * 1000, maxBytes: 1 + random(80_000) }),
      () => void (now += random(2000) - 500),
      async () => {
        for (let turn = random(10); turn >= 0; turn--) await nextTurn();
      },
    ];
    for (let step = 0; step < 150; step++) await steps[random(steps.length)]!();
    expect(store.eventBounds().newest).toBe(model.length);
    for (const { filter, seen, missed, from, at } of watchers) {
      const wanted = model.flatMap((one, index) => {
        const sequence = index + 1;
        return sequence > from && sequence <= at && matches(filter, one) && !missed.has(sequence) ? [sequence] : [];
      });
      expect(seen).toEqual(wanted);
    }
    expect(watchers.some(({ seen }) => seen.length > 0)).toBe(true);
  });
});
