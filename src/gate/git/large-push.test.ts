import { spawn } from "node:child_process";
import { appendFileSync, chmodSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GitDoorBed } from "../../../test/helpers/git-door.ts";
import { QUIET_GIT, hostGit, refsOf } from "../../../test/helpers/git-server.ts";
import { blobOf, commitOf, idOf, packOf, treeOf } from "../../parity/git-objects.ts";
import { pushBody } from "../../parity/git-pushes.ts";

const COMMITS = 5000;
const LARGE_BYTES = 200 * 1024 * 1024;
const SECRET = `sec-${randomBytes(20).toString("hex")}`;
const WHO = "Review Agent <agent@example.com> 1700000000 +0000";

let bed: GitDoorBed;

beforeAll(async () => {
  bed = await GitDoorBed.start({
    guarded: [{ kind: "known_secrets", name: "DEPLOY_TOKEN", value: SECRET }],
    repos: { app: {}, busy: {} },
  });
});

afterAll(async () => {
  await bed[Symbol.asyncDispose]();
});

const quarantined = () => readdirSync(join(bed.folder, "gate", "quarantine"));

/** Commits as they are given to git itself: far quicker than one by one. */
async function fastImport(folder: string, write: (line: (data: string | Buffer) => Promise<void>) => Promise<void>) {
  const env = { PATH: process.env["PATH"], ...QUIET_GIT };
  const child = spawn("git", ["-C", folder, "fast-import", "--quiet", "--force"], {
    env,
    stdio: ["pipe", "ignore", "inherit"],
  });
  const over = new Promise((done) => child.once("close", done));
  await write(async (data) => {
    if (!child.stdin.write(data)) await new Promise((done) => child.stdin.once("drain", done));
  });
  child.stdin.end();
  expect(await over).toBe(0);
}

describe("a large push", () => {
  it("of 5,000 commits goes through, and comes back", async () => {
    const folder = await bed.clone();
    const main = await bed.must(folder, "rev-parse", "HEAD");
    await fastImport(folder, async (line) => {
      for (let at = 0; at < COMMITS; at++)
        await line(
          `commit refs/heads/many\ncommitter ${WHO}\ndata 2\nx\n${at === 0 ? `from ${main}\n` : ""}M 100644 inline d${at % 50}/f${at}\ndata 5\n${String(at).padStart(4, "0")}\n\n`,
        );
    });
    await bed.must(folder, "push", "-q", "origin", "many:agent/many");
    const again = await bed.clone();
    expect(await bed.must(again, "rev-list", "--count", "origin/agent/many")).toBe(String(COMMITS + 1));
    expect(bed.refs()["refs/heads/agent/many"]).toBe(await bed.must(folder, "rev-parse", "many"));
  });

  it("of 200 MB in one file goes through", async () => {
    const folder = await bed.clone();
    for (const setting of ["core.compression", "pack.compression"]) await bed.must(folder, "config", setting, "0");
    const part = randomBytes(8 * 1024 * 1024).map((byte) => byte | 0x80);
    for (let size = 0; size < LARGE_BYTES; size += part.length) appendFileSync(join(folder, "large.bin"), part);
    const id = await bed.commit(folder, {});
    await bed.must(folder, "push", "-q", "origin", "HEAD:agent/large");
    expect(bed.refs()["refs/heads/agent/large"]).toBe(id);
    await expect.poll(quarantined).toEqual([]);
  });

  it("has no place on the borders of buffers where a secret is not seen", async () => {
    const folder = await bed.clone();
    const border = fc.tuple(
      fc.constantFrom(4096, 16_384, 32_768, 65_536, 131_072, 262_144, 1_048_576),
      fc.integer({ min: -60, max: 60 }),
    );
    const places = fc.sample(fc.tuple(border, fc.integer({ min: 0, max: 200 })), { numRuns: 60 });
    const files = places.map(([[size, shift], after], at) => {
      const before = Buffer.alloc(size + shift, `line ${at} of a text that says nothing\n`);
      return [`f${at}.txt`, Buffer.concat([before, Buffer.from(` ${SECRET} `), Buffer.alloc(after, ".")])] as const;
    });
    await bed.commit(folder, Object.fromEntries(files));
    const { code, out } = await bed.git(folder, "push", "-q", "origin", "HEAD:agent/borders");
    expect(code).toBe(1);
    const told = [...out.matchAll(/known-secret DEPLOY_TOKEN in f\d+\.txt/g)].length;
    const more = Number(/secrets +and (\d+) more/.exec(out)?.[1] ?? 0);
    expect(told + more, JSON.stringify(places)).toBe(files.length);
  });
});

describe("a push in pieces of any size, of objects of any size", () => {
  it("arrives as it was sent", async () => {
    await bed.clone();
    const sizes = fc.oneof(
      fc.integer({ min: 0, max: 300 }),
      fc
        .tuple(fc.constantFrom(4096, 8192, 16_384, 32_768, 65_536, 131_072), fc.integer({ min: -24, max: 24 }))
        .map(([size, shift]) => size + shift),
    );
    const cuts = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constantFrom(4095, 16_384, 65_535, 65_536, 65_537));
    const packs = fc.tuple(
      fc.array(sizes, { minLength: 1, maxLength: 12 }),
      fc.array(cuts, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
    );
    for (const [at, [blobSizes, cutSizes, isGzip]] of fc.sample(packs, 12).entries()) {
      const told = JSON.stringify({ blobSizes, cutSizes, isGzip });
      const blobs = blobSizes.map((size) => blobOf(randomBytes(size)));
      const tree = treeOf(
        ...blobs.map((blob, name) => ["100644", `f${String(name).padStart(3, "0")}`, idOf(blob)] as const),
      );
      const commit = commitOf(tree, [], `number ${at}\n`);
      const objects = new Map([...blobs, tree, commit].map((one) => [idOf(one), one]));
      const body = pushBody(`refs/heads/agent/pieces-${at}`, idOf(commit), packOf([...objects.values()]));
      const sent = isGzip ? gzipSync(body) : body;
      const answer = await fetch(`${bed.url("busy")}/git-receive-pack`, {
        method: "POST",
        headers: isGzip ? { "content-encoding": "gzip" } : {},
        body: ReadableStream.from(pieces(sent, cutSizes)),
        duplex: "half",
      });
      expect(await answer.text(), told).toContain(`ok refs/heads/agent/pieces-${at}`);
      for (const blob of blobs)
        expect(hostGit(bed.bare("busy"), ["cat-file", "-s", idOf(blob)]), told).toBe(String(blob.content.length));
    }
  });

  /** So many bytes at a time; the small ones in the beginning only, where the lines are. */
  function* pieces(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const size = Math.max(sizes[turn % sizes.length] ?? 1, turn < 60 ? 1 : 1000);
      yield bytes.subarray(at, at + size);
      at += size;
    }
  }
});

describe("many at once", () => {
  it("to one branch: one is taken, the other hears what git users know, and goes on after a pull", async () => {
    const [one, two] = [await bed.clone("busy"), await bed.clone("busy")];
    await bed.commit(one, { one: "1\n" });
    await bed.commit(two, { two: "2\n" });
    const push = (folder: string) => bed.git(folder, "push", "origin", "HEAD:agent/both");
    const told = await Promise.all([push(one), push(two)]);
    expect(told.map(({ code }) => code).sort()).toEqual([0, 1]);
    const late = told[0].code === 0 ? two : one;
    expect(told.find(({ code }) => code === 1)?.out).toMatch(
      /rejected\].*(fetch first|non-fast-forward|reference already exists)/,
    );
    await bed.must(late, "pull", "-q", "--rebase", "origin", "agent/both");
    await bed.must(late, "push", "-q", "origin", "HEAD:agent/both");
    expect(bed.refs("busy")["refs/heads/agent/both"]).toBe(await bed.must(late, "rev-parse", "HEAD"));
  });

  it("of two bottles with one upstream: each sees what the other has sent", async () => {
    await using other = await GitDoorBed.start({
      repos: {
        app: { way: { kind: "http", url: `${bed.web.url}/busy.git`, authorization: null, token_name: null, ca: null } },
      },
    });
    const [one, two] = [await bed.clone("busy"), await other.clone()];
    await bed.must(one, "push", "-q", "origin", "HEAD:agent/shared");
    await bed.commit(one, { mine: "1\n" });
    await other.must(two, "fetch", "-q");
    await other.must(two, "checkout", "-q", "-b", "work", "origin/agent/shared");
    await other.commit(two, { theirs: "2\n" });
    await bed.must(one, "push", "-q", "origin", "HEAD:agent/shared");
    const late = await other.git(two, "push", "origin", "HEAD:agent/shared");
    expect([late.code, late.out]).toEqual([1, expect.stringContaining("fetch first")]);
    await other.must(two, "pull", "-q", "--rebase", "origin", "agent/shared");
    await other.must(two, "push", "-q", "origin", "HEAD:agent/shared");
    expect(await bed.must(one, "ls-remote", "origin", "agent/shared")).toContain(
      await other.must(two, "rev-parse", "HEAD"),
    );
  });

  it("one after the other: packs are made fewer, and all that was pushed is there", async () => {
    const folder = await bed.clone("busy");
    const packs = () =>
      readdirSync(join(bed.mirror("busy"), "objects", "pack")).filter((name) => name.endsWith(".pack")).length;
    let most = 0;
    let last = "";
    for (let at = 0; at < 24; at++) {
      last = await bed.must(folder, "commit-tree", "-p", "HEAD", "-m", String(at), "HEAD^{tree}");
      await bed.must(folder, "push", "-q", "origin", `${last}:refs/heads/agent/n${at}`);
      most = Math.max(most, packs());
    }
    await bed.must(folder, "fetch", "-q");
    expect(most).toBeGreaterThan(15);
    expect(packs()).toBeLessThan(12);
    expect(await bed.must(folder, "rev-parse", "origin/agent/n23")).toBe(last);
    hostGit(bed.mirror("busy"), ["fsck", "--strict"]);
  });
});

describe("a push that is interrupted", () => {
  /** Begins a push, and kills its client after a while. */
  const interrupted = async (folder: string, ref: string, wait: () => Promise<unknown>) => {
    const env = { PATH: process.env["PATH"], ...QUIET_GIT };
    const child = spawn("git", ["-C", folder, "push", "-q", "origin", ref], { env, stdio: "ignore", detached: true });
    const over = new Promise((done) => child.once("close", done));
    await wait();
    try {
      process.kill(-(child.pid ?? 0), "SIGKILL");
    } catch {
      // it has ended
    }
    await over;
  };

  it("at any moment has sent all of it or nothing, and leaves nothing", async () => {
    const folder = await bed.clone("busy");
    for (const [at, delay] of [10, 40, 80, 120, 180, 260].entries()) {
      const id = await bed.commit(folder, { [`i${at}`]: randomBytes(200_000) });
      await interrupted(folder, `HEAD:agent/i${at}`, () => sleep(delay));
      await expect.poll(quarantined).toEqual([]);
      expect([undefined, id]).toContain(bed.refs("busy")[`refs/heads/agent/i${at}`]);
      await bed.must(folder, "push", "-q", "origin", `HEAD:agent/i${at}`);
    }
  });

  it("while the upstream has it goes on, and what came of it is seen by the next who asks", async () => {
    const folder = await bed.clone("busy");
    const hold = join(bed.folder, "hold");
    const hook = join(bed.bare("busy"), "hooks", "pre-receive");
    writeFileSync(hook, `#!/bin/sh\ntouch ${hold}.seen\nwhile test -e ${hold}; do sleep 0.02; done\n`);
    chmodSync(hook, 0o755);
    writeFileSync(hold, "");
    const id = await bed.commit(folder, { held: "1\n" });
    await interrupted(folder, "HEAD:agent/held", () => expect.poll(() => existsSync(`${hold}.seen`)).toBe(true));
    expect(refsOf(bed.bare("busy"))["refs/heads/agent/held"]).toBeUndefined();
    rmSync(hold);
    rmSync(hook);
    await expect.poll(() => bed.refs("busy")["refs/heads/agent/held"]).toBe(id);
    await expect.poll(quarantined).toEqual([]);
    expect(await bed.must(folder, "push", "origin", "HEAD:agent/held")).toContain("Everything up-to-date");
  });
});
