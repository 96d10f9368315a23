import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRandom } from "../../test/helpers/random.ts";
import type { AuditEntry } from "../model/audit.ts";
import { AuditLog, type NewAuditEntry } from "./audit-log.ts";
import { exportAudit } from "./export-audit.ts";
import { InstallationKey } from "./installation-key.ts";
import { auditEntries, verifyAudit, verifyExport } from "./verify-audit.ts";

let home: string;
let now: number;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "cloche-audit-"));
  now = 1000;
});
afterEach(() => rmSync(home, { recursive: true }));

const open = () => AuditLog.open(home);
const decided = (reason: string): NewAuditEntry => ({
  time: now++,
  kind: "proposal.decided",
  events: { first: now, last: now, count: 1 },
  identity: "reviewer-k3x9a",
  workspace_id: "ws-a",
  operator: "root",
  details: { reason, hosts: ["api.example.test"], "a key": null, n: 1.5 },
});
async function write(count: number): Promise<void> {
  const log = await open();
  for (let number = 1; number <= count; number++) await log.append([decided(`because ${number}`)], now);
  await log.close();
}
const places = () => ({ log: join(home, "audit.jsonl"), checkpoint: join(home, "keys/audit-checkpoint.json") });
const verify = async () => await verifyAudit(places(), InstallationKey.open(home).publicKey);

describe("the audit", () => {
  it("has entries that follow on each other, also from daemon to daemon, and for each that was told its checkpoint", async () => {
    expect(await verify()).toMatchObject({ valid: true, count: 0 });
    await write(3);
    await write(2);
    expect(await verify()).toMatchObject({ path: places().log, valid: true, count: 5, first_bad: null });
    const entries: AuditEntry[] = [];
    for await (const entry of auditEntries(places().log)) entries.push(entry);
    expect(entries.map(({ sequence, time }) => [sequence, time])).toEqual([1, 2, 3, 4, 5].map((n) => [n, 999 + n]));
    expect(entries[0]).toMatchObject({ kind: "proposal.decided", details: { reason: "because 1" }, through: 1001 });
  });

  it("takes many at once, and knows their place in the events when all of them are there", async () => {
    const log = await open();
    const many = Array.from({ length: 50 }, (_, n) => decided(String(n)));
    const all = await log.append(many, 77);
    expect(log.through).toBe(77);
    await log.close();
    expect(all.map(({ details }) => details["reason"])).toEqual(many.map(({ details }) => details["reason"]));
    expect(all.map(({ through }) => through)).toEqual([...Array<null>(49).fill(null), 77]);
    expect(await verify()).toMatchObject({ valid: true, count: 50 });
  });

  it("remembers how far the events were read where no entry tells it", async () => {
    const log = await open();
    await log.append([], 900);
    expect(log.through).toBe(0);
    await log.append([], 1100);
    expect(log.through).toBe(1100);
    await log.place(1101);
    await log.close();
    const next = await open();
    expect(next.through).toBe(1101);
    await next.close();
  });

  it("has a line for an entry whatever an agent said", async () => {
    const log = await open();
    await log.append([decided("a\u2028b\u2029c\rd\r\ne\u0085f\n")], 1);
    await log.close();
    expect(await verify()).toMatchObject({ valid: true, count: 1 });
  });

  it("is nobody else's to read, nor is its key", async () => {
    await write(1);
    for (const name of ["audit.jsonl", "keys/installation.pem", "keys/audit-checkpoint.json"]) {
      expect(statSync(join(home, name)).mode & 0o077, name).toBe(0);
    }
    expect(statSync(join(home, "keys")).mode & 0o077).toBe(0);
  });

  it("goes on after a daemon that died in the middle of a line, and after one that died before its checkpoint", async () => {
    await write(3);
    const before = readFileSync(places().checkpoint);
    await write(1);
    writeFileSync(places().checkpoint, before);
    appendFileSync(places().log, '{"details":{},"hash":"half of');
    await write(1);
    expect(await verify()).toMatchObject({ valid: true, count: 5 });
  });

  it("G-111 counts entries that were written together when all are there, wherever a daemon died", async () => {
    await write(2);
    const before = { log: readFileSync(places().log), checkpoint: readFileSync(places().checkpoint) };
    const log = await open();
    await log.append(["a", "b", "c"].map(decided), 5000);
    await log.close();
    const whole = readFileSync(places().log);
    const first = before.log.length;
    for (const length of [first, first + 1, whole.indexOf(10, first) + 1, whole.length - 1, whole.length]) {
      writeFileSync(places().log, whole.subarray(0, length));
      writeFileSync(places().checkpoint, before.checkpoint);
      const next = await open();
      const isWhole = length === whole.length;
      expect(next.through, String(length)).toBe(isWhole ? 5000 : 1002);
      await next.close();
      expect(await verify()).toMatchObject({ valid: true, count: isWhole ? 5 : 2 });
    }
  });
});

describe("G-93 what was changed in the audit is found, and the first such entry is named", () => {
  const random = createRandom(20_261_118);

  it("G-93 whichever bit of whichever entry", async () => {
    await write(6);
    const whole = readFileSync(places().log);
    for (let round = 0; round < 200; round++) {
      const changed = Buffer.from(whole);
      const at = random(whole.length);
      changed[at] = (changed[at] ?? 0) ^ (1 << random(8));
      writeFileSync(places().log, changed);
      const line = whole.subarray(0, at).toString().split("\n").length;
      const found = await verify();
      expect(found.valid, `bit of byte ${at}`).toBe(false);
      // A changed line break makes one of two lines, or two of one.
      expect([line, line + 1]).toContain(found.first_bad?.sequence);
    }
  });

  it("G-93 an entry taken out, put twice, moved, or brought from another installation", async () => {
    await write(6);
    const lines = readFileSync(places().log, "utf8").trimEnd().split("\n");
    const [a = "", b = "", c = "", ...rest] = lines;
    const other = mkdtempSync(join(tmpdir(), "cloche-audit-"));
    const theirs = await AuditLog.open(other);
    await theirs.append([decided("forged")], 1);
    await theirs.close();
    const forged = readFileSync(join(other, "audit.jsonl"), "utf8").trimEnd();
    rmSync(other, { recursive: true });
    for (const [texts, first] of [
      [[a, c, ...rest], 2],
      [[a, b, b, c, ...rest], 3],
      [[a, c, b, ...rest], 2],
      [[forged, b, c, ...rest], 1],
      [[...lines, forged], 7],
      [[a, "", b, c, ...rest], 2],
    ] as const) {
      writeFileSync(places().log, `${texts.join("\n")}\n`);
      expect((await verify()).first_bad?.sequence).toBe(first);
    }
  });

  it("G-93 an end that was cut off, also all of it, and a checkpoint that was removed, changed or put back", async () => {
    await write(2);
    const early = readFileSync(places().checkpoint, "utf8");
    await write(4);
    const [log, checkpoint] = [readFileSync(places().log), readFileSync(places().checkpoint, "utf8")];
    const lines = log.toString().split("\n");
    for (let kept = 0; kept < 6; kept++) {
      writeFileSync(
        places().log,
        lines
          .slice(0, kept)
          .map((line) => `${line}\n`)
          .join(""),
      );
      expect(await verify()).toMatchObject({ valid: false, count: kept, first_bad: { sequence: kept + 1 } });
    }
    rmSync(places().log);
    expect(await verify()).toMatchObject({ valid: false, first_bad: { sequence: 1 } });
    writeFileSync(places().log, log);
    rmSync(places().checkpoint);
    expect((await verify()).first_bad).toEqual({ sequence: 6, problem: "its checkpoint was removed" });
    writeFileSync(places().checkpoint, checkpoint.replace('"sequence":6', '"sequence":5'));
    expect((await verify()).first_bad).toEqual({
      sequence: 6,
      problem: "its checkpoint was changed, or is of another key",
    });
    // An older one is what a crash leaves; with the log cut to it nothing is known to be missing, so the newest is what has to be guarded.
    writeFileSync(places().checkpoint, early);
    expect(await verify()).toMatchObject({ valid: true, count: 6 });
  });

  it("G-93 an entry added without a line break, and a signature that is spelled in another way", async () => {
    const listed = async () => {
      const found: AuditEntry[] = [];
      for await (const entry of auditEntries(places().log)) found.push(entry);
      return found.length;
    };
    await write(20);
    const whole = readFileSync(places().log, "utf8");
    const last = JSON.parse(whole.trimEnd().split("\n").at(-1) ?? "") as AuditEntry;
    appendFileSync(places().log, JSON.stringify({ ...last, sequence: 21, previous: last.hash }));
    expect(await verify()).toMatchObject({ valid: false, first_bad: { sequence: 21 } });
    expect(await listed()).toBe(20);
    // What is on its way to the disk is no such thing.
    writeFileSync(places().log, whole + whole.slice(0, 100));
    expect(await verify()).toMatchObject({ valid: true, count: 20 });
    const spelled = whole.replaceAll(/"signature":"[^"]*"/g, (text) => text.replaceAll("+", "-").replaceAll("/", "_"));
    expect(spelled).not.toBe(whole);
    writeFileSync(places().log, spelled);
    expect(await verify()).toMatchObject({ valid: false, first_bad: { problem: "its signature is not of this key" } });
    writeFileSync(places().log, whole);
    const checkpoint = readFileSync(places().checkpoint, "utf8");
    writeFileSync(places().checkpoint, checkpoint.replace(/=+"/, '"'));
    expect(await verify()).toMatchObject({ valid: false });
  });

  it("G-93 also in a file that was exported, and with a key that took the place of the first", async () => {
    await write(3);
    const { publicKey } = InstallationKey.open(home);
    const file = join(home, "export.jsonl");
    await exportAudit(places(), publicKey, file);
    expect(await verifyExport(file, publicKey)).toMatchObject({ valid: true, count: 3, path: file });
    const lines = readFileSync(file, "utf8").split("\n");
    for (const [kept, first] of [
      [[0, 2, 3], 2],
      [[0, 1, 3], 3],
      [[0, 1, 2], 3],
      [[1, 0, 2, 3], 1],
      [[3], 1],
    ] as const) {
      writeFileSync(file, kept.map((index) => `${lines[index] ?? ""}\n`).join(""));
      expect((await verifyExport(file, publicKey)).first_bad?.sequence, kept.join()).toBe(first);
    }
    rmSync(join(home, "keys/installation.pem"));
    expect(await verify()).toMatchObject({
      valid: false,
      first_bad: { sequence: 1, problem: "its signature is not of this key" },
    });
  });

  it("G-93 and nothing is added behind it", async () => {
    await write(2);
    const text = readFileSync(places().log, "utf8");
    writeFileSync(places().log, text.replace("because 2", "because 3"));
    await expect(open()).rejects.toMatchObject({ code: "AUDIT_BROKEN" });
    // A cut end, an end that came from elsewhere, and no checkpoint: a daemon that went on would hide it.
    for (const other of [text.slice(0, text.indexOf("\n") + 1), "", `${text}${text}`, `${text}{}\n`]) {
      writeFileSync(places().log, other);
      await expect(open()).rejects.toMatchObject({ code: "AUDIT_BROKEN" });
      expect(readFileSync(places().log, "utf8")).toBe(other);
    }
    writeFileSync(places().log, text);
    const checkpoint = readFileSync(places().checkpoint);
    rmSync(places().checkpoint);
    await expect(open()).rejects.toMatchObject({ code: "AUDIT_BROKEN" });
    writeFileSync(places().checkpoint, checkpoint);
    await write(1);
    expect(await verify()).toMatchObject({ valid: true, count: 3 });
  });

  it("G-111 nor behind what another hand has written meanwhile, nor into a file that is the audit no longer", async () => {
    await write(2);
    const text = readFileSync(places().log, "utf8");
    for (const tamper of [
      () => appendFileSync(places().log, "{}\n"),
      () => truncateSync(places().log, text.indexOf("\n") + 1),
      () => {
        writeFileSync(join(home, "copy"), text);
        renameSync(join(home, "copy"), places().log);
      },
      () => rmSync(places().log),
    ]) {
      const log = await open();
      tamper();
      await expect(log.append([decided("more")], 9)).rejects.toMatchObject({ code: "AUDIT_BROKEN" });
      await expect(log.append([decided("more")], 9)).rejects.toMatchObject({ code: "AUDIT_BROKEN" });
      await log.close();
      writeFileSync(places().log, text, { mode: 0o600 });
    }
    await write(1);
    expect(await verify()).toMatchObject({ valid: true, count: 3 });
  });

  it("G-93 nor with another key: a damaged one, or one that others can read, is not replaced", async () => {
    await write(1);
    const path = join(home, "keys/installation.pem");
    truncateSync(path, 20);
    await expect(open()).rejects.toMatchObject({ code: "KEY_UNUSABLE" });
    expect(statSync(path).size).toBe(20);
    rmSync(path);
    writeFileSync(path, "", { mode: 0o644 });
    await expect(open()).rejects.toMatchObject({ code: "KEY_UNUSABLE" });
    expect(existsSync(path)).toBe(true);
  });
});
