import { chownSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runBuiltin } from "../../src/guest/builtin.ts";
import { GuestFiles, type TreeChange, type TreeItem } from "../../src/guest/files.ts";
import { encodeBytesHead, encodeDone, encodeEntry, encodeFileEnd } from "../../src/guest/records.ts";
import { encodeTree } from "../../src/guest/tree.ts";
import {
  differences,
  makeOldFiles,
  pictureOf,
  pictureOfItems,
  pictureOnDisk,
  randomTree,
  toItem,
  toRemoval,
  type Member,
} from "./random-tree.ts";
import { AGENT, command, RealGuest } from "./real-guest.ts";

/** To play a failure again: both are printed with it. */
const SEED = Number(process.env["CLOCHE_TEST_SEED"] ?? Date.now() % 2 ** 31);
const RUNS = Number(process.env["CLOCHE_TEST_RUNS"] ?? 12);
/** Of what the host sends at once, the guest reads at once, and the guest sends at once. */
const BATCH = 64 * 1024;
const OLD = ["old-1", "old-2"];

let guest: RealGuest;
let files: GuestFiles;
beforeAll(async () => {
  guest = await RealGuest.start();
  files = new GuestFiles(await guest.client(), AGENT);
});
afterAll(async () => {
  await guest[Symbol.asyncDispose]();
});

/** In, compared with the disk; out, compared with the disk. */
async function deliver(members: readonly Member[], changes: readonly TreeChange[], left: readonly string[]) {
  const folder = join(guest.workspace, "tree");
  try {
    makeOldFiles(folder, OLD, (path) => chownSync(path, AGENT.uid, AGENT.gid));
    const bytes = members.flatMap(({ pieces }) => pieces).reduce((sum, length) => sum + length, 0);
    expect(await files.treeIn("workspace", "tree", changes)).toBe(bytes);
    const onDisk = pictureOnDisk(folder);
    const out = await pictureOfItems(files.treeOut("workspace", "tree"));
    expect(differences(out, onDisk)).toEqual([]);
    for (const name of left) expect(onDisk.delete(name), name).toBe(true);
    expect(differences(pictureOf(members), onDisk)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const link = (path: string, bytes: number): Member => ({
  ...{ type: "symlink", path, mode: 0o777, mtimeNs: 1n, pieces: [] },
  target: "t".repeat(bytes),
});
const HEAD = 30;

/** Links whose records take so many bytes. */
function filler(bytes: number): Member[] {
  const members: Member[] = [];
  for (let left = bytes; left > 0;) {
    const path = `a${String(members.length).padStart(3, "0")}`;
    const least = HEAD + path.length + 1;
    // The rest has to be enough for a link of its own.
    const record = left <= 4000 ? left : Math.min(4000, left - least);
    members.push(link(path, record - HEAD - path.length));
    left -= record;
  }
  return members;
}

const file = (path: string, pieces: number[]): Member => ({
  ...{ type: "file", path, mode: 0o640, mtimeNs: 1_700_000_000_123_456_789n, target: "" },
  pieces,
});

const entryOf = (member: Member) => encodeEntry(toItem(member) as TreeItem);

/** One of each record, each as short as it can be: an entry with content, one without, a removal, and the end. */
const TAIL = [file("z1", [3]), file("z2", [])];
const TAIL_BYTES = HEAD + 2 + 5 + 3 + 1 + (HEAD + 2 + 1) + (5 + OLD[0]!.length) + 9;

describe("a tree on its way in and out", () => {
  it("arrives whole wherever in a record the end of a batch falls", async () => {
    // On the way out the folder itself comes first.
    for (let start = BATCH - TAIL_BYTES - HEAD - 2; start <= BATCH + 2; start++) {
      const members = [...filler(start), ...TAIL];
      const changes = [...members.map(toItem), toRemoval("old-1")];
      await deliver(members, changes, ["old-2"]).catch((error: unknown) => {
        throw new Error(`with a record that starts at byte ${start}`, { cause: error });
      });
    }
  });

  it("is what those starts promise: the records begin there", async () => {
    const pieces: Uint8Array[] = [];
    for await (const piece of encodeTree(filler(BATCH).map(toItem))) pieces.push(Buffer.from(piece));
    expect(Buffer.concat(pieces).length).toBe(BATCH + 9);
  });

  it.each([16 * 1024, BATCH, 4 * BATCH])("keeps content in pieces of about %i bytes", async (bytes) => {
    const sizes = [-1, 0, 1].flatMap((more) => [[bytes + more], [1, bytes + more, 1]]);
    for (const start of [-10, -5, -1, 0, 1].map((more) => BATCH - HEAD - 2 + more)) {
      const members = [...filler(start), ...sizes.map((pieces, index) => file(`z${index}`, pieces))];
      await deliver(members, members.map(toItem), OLD);
    }
  });

  it("is the same on both sides, whatever it is", async () => {
    const drawn = fc.sample(fc.tuple(randomTree, fc.subarray(OLD)), { seed: SEED, numRuns: RUNS });
    for (const [index, [members, removed]] of drawn.entries()) {
      const changes = [...members.map(toItem), ...removed.map(toRemoval)];
      const left = OLD.filter((name) => !removed.includes(name));
      await deliver(members, changes, left).catch((error: unknown) => {
        const again = `CLOCHE_TEST_SEED=${SEED} CLOCHE_TEST_RUNS=${RUNS}`;
        throw new Error(`tree ${index} of ${members.length} members; again with ${again}`, { cause: error });
      });
    }
  }, 120_000);

  it("is refused when its end tells of more than has come", async () => {
    const records = [entryOf(file("x", [])), encodeBytesHead(3), Buffer.from("abc"), encodeFileEnd(), encodeDone(4)];
    const call = {
      argv: ["tree-in", "workspace", "lost"],
      user: AGENT,
      action: "put in",
      path: "lost",
      input: records,
    };
    await expect(runBuiltin(await guest.client(), call).next()).rejects.toMatchObject({ code: "FILE_FAILED" });
    expect(readdirSync(guest.workspace)).toEqual([]);
  });

  it("comes out with the size that was announced, also of a file that grows", async () => {
    const growing = join(guest.workspace, "growing");
    writeFileSync(growing, Buffer.alloc(8 * 1024 * 1024));
    chownSync(growing, AGENT.uid, AGENT.gid);
    const client = await guest.client();
    const writer = client.spawn(
      command(["sh", "-c", "while echo more >> growing; do :; done"], { cwd: guest.workspace }),
    );
    try {
      for (let tries = 0; tries < 5; tries++) {
        for await (const { path, size, content } of files.treeOut("workspace", "")) {
          let bytes = 0;
          for await (const data of content ?? []) bytes += data.length;
          if (path === "growing") expect(bytes).toBe(size);
        }
      }
    } finally {
      writer.signal(9, "tree");
      await writer.exit;
      rmSync(growing);
    }
  });
});
