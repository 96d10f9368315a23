import { appendFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLog } from "../base/log.ts";
import type { Store } from "../contracts/store.ts";
import type { NewEvent } from "../contracts/events.ts";
import { EventLog } from "../events/event-log.ts";
import type { AuditEntry } from "../model/audit.ts";
import { openStore } from "../store/open-store.ts";
import { auditPlaces } from "./audit-places.ts";
import { Auditor } from "./auditor.ts";
import { InstallationKey } from "./installation-key.ts";
import { auditEntries, verifyAudit } from "./verify-audit.ts";

let home: string;
let store: Store;
let events: EventLog;
let auditor: Auditor;
let said: string[];
const log = createLog((line) => said.push(line));

function begin(retention = { maxAgeSeconds: 3600, maxBytes: 1024 * 1024 }): void {
  const opened = openStore(join(home, "store.sqlite"));
  if (opened === "locked") throw new Error("locked");
  store = opened;
  events = new EventLog({ store, clock: { now: () => 1000 }, log, retention });
  auditor = new Auditor({ home, events, log, gatherMs: 60_000, retryMs: 5 });
  auditor.start();
}

async function end(): Promise<void> {
  await auditor.close();
  events.close();
  store.close();
}

beforeEach(() => {
  said = [];
  home = mkdtempSync(join(tmpdir(), "cloche-auditor-"));
  begin();
});
afterEach(async () => {
  await end();
  rmSync(home, { recursive: true });
});

const entries = async (): Promise<AuditEntry[]> => {
  await auditor.caughtUp();
  const all: AuditEntry[] = [];
  for await (const entry of auditEntries(auditPlaces(home).log)) all.push(entry);
  expect(await verifyAudit(auditPlaces(home), InstallationKey.open(home).publicKey)).toMatchObject({ valid: true });
  return all;
};
const told = async () => (await entries()).map(({ kind, events: { count } }) => `${kind} ${count}`);

const about = { workspace_id: "ws-a", identity: "r-1" };
const facts = { method: "GET", port: 443, path: "/x", rule: null, bytes_sent: 0, bytes_received: 0, duration_ms: 1 };
const denied = (host: string): NewEvent => ({
  kind: "egress.denied",
  ...about,
  ...facts,
  host,
  code: "HOST_NOT_LISTED",
  injected: false,
  credentials: [],
  findings: [],
  model_usage: null,
});
const used = (host: string): NewEvent => ({
  kind: "egress.request",
  ...about,
  ...facts,
  host,
  status: 200,
  injected: true,
  credentials: ["API_TOKEN"],
  findings: [],
  model_usage: null,
});
const stopped: NewEvent = { kind: "workspace.stopped", workspace_id: "ws-a" };
const pushed = (repo: string): NewEvent => ({ kind: "push.accepted", ...about, repo, refs: ["refs/heads/main"] });

describe("the auditor", () => {
  it("tells each event that somebody may have to answer for, and no other", async () => {
    events.record(stopped);
    events.record(used("api.example.test"));
    events.record({ ...used("plain.example.test"), credentials: [] } as NewEvent);
    events.record(pushed("app"));
    const all = await entries();
    expect(all).toMatchObject([
      {
        sequence: 1,
        time: 1000,
        kind: "credential.used",
        identity: "r-1",
        workspace_id: "ws-a",
        operator: null,
        events: { first: 2, last: 2, count: 1 },
        details: { credentials: ["API_TOKEN"], host: "api.example.test" },
        through: null,
      },
      { sequence: 2, kind: "push.forwarded", details: { repo: "app", refs: ["refs/heads/main"] }, through: 4 },
    ]);
  });

  it("says who decided, and about what", async () => {
    const change = { before_hash: "a", after_hash: "b", before: {}, after: { routes: [{ host: "new.example.test" }] } };
    events.record({ kind: "policy.changed", ...about, operator: "ada", proposal_id: "p-1", ...change });
    const answer = { status: "rejected", reason: "not today", decided_by: "grace", scope: null } as const;
    const asked = {
      proposal_kind: "egress-block",
      adds: "a route",
      proposed: {},
      hash_before: "a",
      hash_after: "a",
    } as const;
    events.record({ kind: "proposal.decided", ...about, proposal_id: "p-2", ...asked, ...answer });
    expect(await entries()).toMatchObject([
      { kind: "policy.changed", operator: "ada", details: { proposal_id: "p-1", ...change } },
      { kind: "proposal.decided", operator: "grace", details: { status: "rejected", reason: "not today" } },
    ]);
  });

  it("writes at once what is rare, and goes on where the one before it stopped", async () => {
    events.record(pushed("one"));
    await auditor.caughtUp();
    await end();
    begin();
    events.record(pushed("two"));
    expect(await told()).toEqual(["push.forwarded 1", "push.forwarded 1"]);
  });

  it("G-111 leaves nothing out and tells nothing twice, at whatever moment a daemon dies", async () => {
    for (let round = 0; round < 6; round++) {
      for (let number = 0; number < 3; number++) events.record(pushed(`${round}.${number}`));
      // As after kill -9: what the next one finds is what was on the disk at that moment.
      await new Promise((resolve) => setTimeout(resolve, 3 * round));
      const copies = ["keys/installation.pem", "keys/audit-checkpoint.json", "audit.jsonl"];
      const found = copies.map(
        (name) => [name, existsSync(join(home, name)) && readFileSync(join(home, name))] as const,
      );
      await end();
      for (const [name, bytes] of found) {
        rmSync(join(home, name), { force: true });
        if (bytes !== false) appendFileSync(join(home, name), bytes, { mode: 0o600 });
      }
      begin();
    }
    const repos = (await entries()).map(({ details }) => details["repo"]);
    expect(repos).toEqual([0, 1, 2, 3, 4, 5].flatMap((round) => [0, 1, 2].map((number) => `${round}.${number}`)));
  });

  it("G-112 counts what a sandbox can cause at will, however much of it there is", async () => {
    for (let number = 0; number < 3000; number++) events.record(denied("evil.example.test"));
    for (let number = 0; number < 3000; number++) events.record(denied(`h${number}.example.test`));
    const all = await entries();
    expect(all.length).toBeLessThan(400);
    expect(all.reduce((sum, entry) => sum + entry.events.count, 0)).toBe(6000);
    expect(all[0]).toMatchObject({
      kind: "request.denied",
      details: { code: "HOST_NOT_LISTED", host: "evil.example.test" },
    });
    expect(all.at(-1)?.details).toEqual({ and_others: true });
  });

  it("G-112 gathers it for a while, and writes it when it ends", async () => {
    events.record(denied("evil.example.test"));
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(statSync(auditPlaces(home).log).size).toBe(0);
    await end();
    begin();
    expect(await told()).toEqual(["request.denied 1"]);
  });

  it("G-111 keeps events until they are audited, and says of those that are lost that they are", async () => {
    await auditor.caughtUp();
    await end();
    renameSync(join(home, "keys"), join(home, "away"));
    appendFileSync(join(home, "keys"), "");
    begin({ maxAgeSeconds: -1, maxBytes: 20_000 });
    await expect(auditor.caughtUp()).rejects.toThrow();
    for (let number = 0; number < 200; number++) events.record(pushed("kept"));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(events.bounds().oldest).toBe(1);
    for (let number = 0; number < 2000; number++) events.record(pushed("kept"));
    await expect.poll(() => events.bounds().oldest).toBeGreaterThan(1);
    const { oldest } = events.bounds();
    rmSync(join(home, "keys"));
    renameSync(join(home, "away"), join(home, "keys"));
    const all = await entries();
    expect(all[0]).toMatchObject({ kind: "events.missing", details: { first_missing: 1, last_missing: oldest - 1 } });
    expect(all).toHaveLength(2200 - oldest + 2);
    // Audited, they may go.
    for (let number = 0; number < 200; number++) events.record(stopped);
    await expect.poll(() => events.bounds().oldest).toBeGreaterThan(oldest);
  });

  it("G-111 says that a store was replaced, and begins with all that it has", async () => {
    for (let number = 0; number < 5; number++) events.record(pushed("old"));
    await auditor.caughtUp();
    await end();
    for (const name of ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm"])
      rmSync(join(home, name), { force: true });
    begin();
    events.record(pushed("new"));
    expect((await told()).slice(5)).toEqual(["events.missing 0", "push.forwarded 1"]);
  });

  it("G-111 tries again after somebody has changed the file under it", async () => {
    events.record(pushed("one"));
    await auditor.caughtUp();
    const { log: path } = auditPlaces(home);
    const text = readFileSync(path, "utf8");
    appendFileSync(path, "{}\n");
    events.record(pushed("two"));
    await expect(auditor.caughtUp()).rejects.toMatchObject({ code: "AUDIT_BROKEN" });
    expect(said.join()).toContain("the audit cannot be written");
    // As an editor does: another file in its place.
    rmSync(path);
    appendFileSync(path, text, { mode: 0o600 });
    expect(await told()).toEqual(["push.forwarded 1", "push.forwarded 1"]);
  });
});
