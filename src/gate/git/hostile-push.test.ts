import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { type Socket, connect } from "node:net";
import { join } from "node:path";
import { createDeflate, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GitDoorBed } from "../../../test/helpers/git-door.ts";
import { hostGit } from "../../../test/helpers/git-server.ts";
import {
  type GitObject as Packed,
  blobOf,
  commitOf,
  deltaBomb,
  idOf,
  packOf,
  treeOf,
} from "../../parity/git-objects.ts";
import { FLUSH, pktLine } from "../../policy/git/pkt-line.ts";
import { PUSHES_AT_ONCE } from "./limits.ts";
import { NO_OBJECT } from "../../policy/git/push-commands.ts";

/** So many megabytes of zeros. */
async function deflated(megabytes: number): Promise<Buffer> {
  const packer = createDeflate({ level: 1 });
  const parts: Buffer[] = [];
  packer.on("data", (part: Buffer) => parts.push(part));
  const part = Buffer.alloc(1024 * 1024);
  for (let at = 0; at < megabytes; at++) if (!packer.write(part)) await once(packer, "drain");
  packer.end();
  await once(packer, "end");
  return Buffer.concat(parts);
}

/** One object of a type and a size that is what it says. */
function packedBomb(type: number, size: number, content: Buffer): Buffer {
  const bytes = [(type << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 128;
    bytes.push(rest & 127);
  }
  const all = Buffer.concat([packOf([], 1).subarray(0, 12), Buffer.from(bytes), content]);
  return Buffer.concat([all, createHash("sha1").update(all).digest()]);
}

/** Kilobytes of memory of the largest program that now runs with that word in those repositories. */
function largestOf(word: string, repositories: string): number {
  let most = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0").includes(word)) continue;
      if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(repositories)) continue; // of another test
      most = Math.max(most, Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0));
    } catch {
      // It has just ended.
    }
  return most;
}

describe("a hostile client of a git door", () => {
  let bed: GitDoorBed;

  beforeAll(async () => {
    bed = await GitDoorBed.start();
    await bed.clone();
  });

  afterAll(async () => {
    await bed[Symbol.asyncDispose]();
  });

  /** Sends a push as it is; gives what comes back. */
  const push = async (ref: string, id: string, pack: Buffer, old = NO_OBJECT): Promise<string> => {
    const before = bed.refs();
    const command = pktLine(`${old} ${id} ${ref}\0report-status side-band-64k object-format=sha1`);
    const answer = await fetch(`${bed.url()}/git-receive-pack`, {
      method: "POST",
      headers: { "content-type": "application/x-git-receive-pack-request" },
      body: Buffer.concat([command, FLUSH, pack]),
    });
    const text = await answer.text();
    expect(bed.refs()).toEqual(before);
    await expect.poll(() => readdirSync(join(bed.folder, "gate", "quarantine"))).toEqual([]);
    return text;
  };

  describe("does not get past git's own checks with (G-86)", () => {
    const file = blobOf("x\n");
    const config = blobOf('[submodule "a"]\n\tpath = a\n\turl = -u./payload\n');
    const cases: Record<string, readonly Packed[]> = {
      "..": [treeOf(["40000", "..", idOf(treeOf(["100644", "f", idOf(file)]))]), treeOf(["100644", "f", idOf(file)])],
      ".git": [treeOf(["100644", ".git", idOf(file)])],
      ".GIT, which some systems take for the same": [treeOf(["100644", ".GIT", idOf(file)])],
      "git~1, as NTFS has it": [treeOf(["100644", "git~1", idOf(file)])],
      ".g\u200cit, as HFS has it": [treeOf(["100644", ".g\u200cit", idOf(file)])],
      "a path in a name": [treeOf(["100644", "a/b", idOf(file)])],
      "a submodule whose URL is an option": [treeOf(["100644", ".gitmodules", idOf(config)]), config],
      "a link named .gitmodules": [treeOf(["120000", ".gitmodules", idOf(file)])],
      "a link named .gitattributes": [treeOf(["120000", ".gitattributes", idOf(file)])],
      "two entries of one name": [treeOf(["100644", "f", idOf(file)], ["100644", "f", idOf(file)])],
    };
    for (const [name, objects] of Object.entries(cases))
      it(name, async () => {
        const [tree = file] = objects;
        const commit = commitOf(tree);
        expect(await push("refs/heads/agent/x", idOf(commit), packOf([commit, ...objects, file]))).toMatch(
          / {2}unpack {3}/,
        );
      });
  });

  it("gets no name of a ref past it that a program could take for something else (G-86)", async () => {
    const tree = treeOf(["100644", "f", idOf(blobOf("x\n"))]);
    const commit = commitOf(tree);
    const pack = packOf([commit, tree, blobOf("x\n")]);
    for (const ref of [
      "refs/heads/--upload-pack=touch",
      "--exec=x",
      "refs/heads/a..b",
      "refs/heads/.lock",
      "HEAD",
      "refs/heads/x.lock",
      "refs/notes/a",
    ]) {
      const told = await push(ref, idOf(commit), pack);
      expect(told).toMatch(/ {2}refs {5}/);
    }
    const told = await push("refs/heads/a\u001b[2J", idOf(commit), pack);
    expect(told).toBe("cloche: this is no push: the name of a ref has control characters\n");
  });

  it("hides nothing in a pack that no ref leads to (G-89)", async () => {
    const secret = ["AKIA", "QRSTUVWXYZ234567"].join("");
    const file = blobOf("x\n");
    const hidden = blobOf(`aws_access_key_id=${secret}\n`);
    const tree = treeOf(["100644", "f", idOf(file)]);
    const commit = commitOf(tree);
    const told = await push("refs/heads/agent/x", idOf(commit), packOf([commit, tree, file, hidden, blobOf("also\n")]));
    expect(told).toContain("the pack has 2 objects that no pushed ref leads to");
    expect(told).toMatch(/secrets {2}aws-access-key-id in object [0-9a-f]{12}, line 1/);
    expect(told).not.toContain(secret);
  });

  it("G-125 has nothing unread by not sending what the mirror still has and the upstream has not", async () => {
    const secret = ["AKIA", "QRSTUVWXYZ234567"].join("");
    const path = bed.bare("app");
    const kept = blobOf(`aws_access_key_id=${secret}\n`);
    const below = treeOf(["100644", "kept.txt", idOf(kept)]);
    const theirs = hostGit(path, ["hash-object", "-w", "--stdin"], kept.content.toString());
    const tree = hostGit(path, ["mktree"], `100644 blob ${theirs}\tkept.txt\n`);
    const gone = hostGit(path, ["commit-tree", "-m", "theirs", tree]);
    hostGit(path, ["update-ref", "refs/heads/gone", gone]);
    await bed.clone();
    hostGit(path, ["update-ref", "-d", "refs/heads/gone"]);
    await bed.clone();
    expect(hostGit(bed.mirror("app"), ["cat-file", "-t", idOf(kept)])).toBe("blob");
    // A file of it in a tree of the sandbox's own, a whole tree, and the commit itself.
    const own = treeOf(["100644", "f", idOf(kept)]);
    const [one, two] = [commitOf(own), commitOf(below)];
    for (const [id, pack, where] of [
      [idOf(one), packOf([one, own]), "f:1"],
      [idOf(two), packOf([two]), "kept.txt:1"],
      [gone, packOf([]), "kept.txt:1"],
    ] as const) {
      const told = await push("refs/heads/agent/x", id, pack);
      expect(told).toContain(`secrets  aws-access-key-id in ${where}, commit ${id.slice(0, 12)}`);
      expect(told).not.toContain(secret);
    }
  });

  it("cannot push what is not whole, or no commit", async () => {
    const tree = treeOf(["100644", "f", "1".repeat(40)]);
    const commit = commitOf(tree);
    expect(await push("refs/heads/agent/x", idOf(commit), packOf([commit, tree]))).toContain("unpack");
    expect(await push("refs/heads/agent/x", "2".repeat(40), packOf([]))).toContain("does not lead to a commit");
    const file = blobOf("x\n");
    expect(await push("refs/heads/agent/x", idOf(file), packOf([file]))).toContain("does not lead to a commit");
    expect(await push("refs/heads/agent/x", idOf(commit), Buffer.from("PACKgarbage"))).toContain("unpack");
  });

  it("takes no more than its share of memory, objects and time with bombs (G-87)", async () => {
    expect(await push("refs/heads/agent/x", "2".repeat(40), packOf([blobOf("x")], 4_000_000))).toContain(
      "at most 250000 are taken at once",
    );
    const bomb = { ...blobOf("small"), claimed: 8 * 1024 ** 4 };
    expect(await push("refs/heads/agent/x", "2".repeat(40), packOf([bomb]))).toContain("unpack");
    expect(await push("refs/heads/agent/x", "2".repeat(40), deltaBomb(blobOf("base")))).toContain("unpack");
  });

  it("gets no bomb unpacked: a commit and a tree of more than a gigabyte in a megabyte (G-87)", async () => {
    const gigabyte = await deflated(1200);
    for (const type of [1, 2]) {
      const before = process.memoryUsage.rss();
      const told = await push("refs/heads/agent/x", "2".repeat(40), packedBomb(type, 1200 * 1024 * 1024, gigabyte));
      expect(told).toContain("an object of it takes more memory than is given to it");
      expect(process.memoryUsage.rss() - before).toBeLessThan(300 * 1024 * 1024);
    }
  });

  it("G-172 has no fetch take the memory of many large files that are alike", async () => {
    const folder = await bed.clone();
    for (let at = 0; at < 6; at++) {
      const content = Buffer.alloc(24_000_000 + at);
      for (let place = at; place < content.length - 4; place += 4096) content.writeUInt32LE(place, place);
      await bed.commit(folder, { [`alike-${at}`]: content });
      // Each comes in a pack of its own, so that nobody has compared them.
      await bed.must(folder, "-c", "pack.window=0", "push", "-q", "origin", "HEAD:alike");
    }
    let peak = 0;
    const timer = setInterval(() => (peak = Math.max(peak, largestOf("pack-objects", join(bed.folder, "gate")))), 1);
    const alike = join(bed.folder, "alike.git");
    await bed.must(bed.folder, "clone", "-q", "--bare", "--single-branch", "-b", "alike", bed.url(), alike);
    clearInterval(timer);
    // One that compares nothing is often gone before it is seen; one that does is there for long, with 160 MB.
    expect(peak).toBeLessThan(64 * 1024);
  });

  it("hears of a disk that is full while it is unpacked, and nothing is left (G-87)", async () => {
    const path = join(bed.folder, "gate", "quarantine");
    const folder = await bed.clone();
    await bed.commit(folder, { full: "x\n" });
    // There is room, and no place for another file.
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2g,nr_inodes=5", "tmpfs", path]);
    try {
      const { code, out } = await bed.git(folder, "push", "origin", "HEAD:agent/full");
      expect([code, out]).toEqual([1, expect.stringContaining("unpack   the disk of the host is full")]);
      await expect.poll(() => readdirSync(path)).toEqual([]);
      execFileSync("mount", ["-o", "remount,size=1m,nr_inodes=1000", path]);
      const near = await bed.git(folder, "push", "origin", "HEAD:agent/full");
      expect([near.code, near.out]).toEqual([1, expect.stringContaining("the disk of the host is nearly full")]);
    } finally {
      execFileSync("umount", [path]);
    }
    await bed.must(folder, "push", "-q", "origin", "HEAD:agent/full");
  });

  it("cannot keep it busy with trees that hold each other many times (G-87)", async () => {
    let below = blobOf("x\n");
    const objects = [below];
    for (let depth = 0; depth < 9; depth++) {
      const mode = below.type === "blob" ? "100644" : "40000";
      const id = idOf(below);
      below = treeOf(...Array.from({ length: 10 }, (_, at) => [mode, `n${at}`, id] as [string, string, string]));
      objects.push(below);
    }
    const commit = commitOf(below);
    const told = await push("refs/heads/agent/x", idOf(commit), packOf([commit, ...objects]));
    expect(told).toContain("a tree of it has more than 2000000 paths");
  });

  it("is answered 400 for a wrong length and 413 for too great a one (G-87)", async () => {
    const ask = (lines: string) =>
      new Promise<string>((done) => {
        let told = "";
        const socket = connect(bed.port, "127.0.0.1", () =>
          socket.write(`POST /app.git/git-receive-pack HTTP/1.1\r\nhost: x\r\n${lines}\r\n`),
        );
        socket.on("data", (chunk: Buffer) => (told += chunk.toString()));
        socket.on("close", () => done(told)).on("error", () => done(told));
        setTimeout(() => socket.destroy(), 500);
      });
    for (const lines of [
      "",
      "content-length: -1\r\n",
      "content-length: ten\r\n",
      "content-length: 1\r\ncontent-length: 2\r\n",
    ])
      expect(await ask(lines)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await ask("")).toContain("says neither how long it is nor that it comes in parts");
    expect(await ask("content-length: 99999999999\r\n")).toMatch(/^HTTP\/1\.1 413 /);
    const answer = await fetch(`${bed.url()}/git-receive-pack`, { method: "POST", body: "this is no push" });
    expect(answer.status).toBe(400);
  });

  it("G-156 does not end the gate with a body that turns out broken after it was refused, or with one that breaks off", async () => {
    const problems: unknown[] = [];
    const heard = (error: unknown) => problems.push(error);
    process.on("uncaughtException", heard);
    try {
      const line = (old: string, next: string) => pktLine(`${old} ${next} refs/heads/agent/x\0report-status`);
      const id = "2".repeat(40);
      const bodies = {
        "git-receive-pack": [
          Buffer.concat([line(NO_OBJECT, id), FLUSH, packOf([blobOf("x")], 4_000_000)]),
          Buffer.concat([line(id, NO_OBJECT), FLUSH, Buffer.alloc(100)]),
          Buffer.from("this is no push, and has no line of git's protocol"),
        ],
        "git-upload-pack": [Buffer.concat([pktLine("command=ls-refs\n"), FLUSH])],
      };
      for (const [service, plains] of Object.entries(bodies))
        for (const plain of plains)
          for (const end of [
            (socket: Socket) => void socket.write(Buffer.alloc(1000, 7)),
            (socket: Socket) => socket.resetAndDestroy(),
          ]) {
            const whole = gzipSync(plain, { level: 0 });
            const socket = connect(bed.port, "127.0.0.1").on("error", () => undefined);
            const answered = new Promise((done) => socket.once("data", done).once("close", done));
            socket.write(
              `POST /app.git/${service} HTTP/1.1\r\nhost: x\r\ncontent-encoding: gzip\r\ncontent-length: 5000\r\n\r\n`,
            );
            // All of what it says, and nothing yet of the sum over it.
            socket.write(whole.subarray(0, -8));
            await answered;
            end(socket);
            await new Promise((done) => setTimeout(done, 100));
            socket.destroy();
          }
      expect(problems).toEqual([]);
      await bed.clone();
    } finally {
      process.off("uncaughtException", heard);
    }
  });

  it("waits for itself when it begins many pushes at once (G-87)", async () => {
    const quarantine = join(bed.folder, "gate", "quarantine");
    const command = pktLine(`${NO_OBJECT} ${"2".repeat(40)} refs/heads/agent/x\0report-status side-band-64k`);
    const sockets = Array.from({ length: PUSHES_AT_ONCE + 3 }, () => {
      const socket = connect(bed.port, "127.0.0.1").on("error", () => undefined);
      socket.write("POST /app.git/git-receive-pack HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n");
      socket.write(Buffer.concat([command, FLUSH, packOf([blobOf("x")]).subarray(0, 20)]));
      return socket;
    });
    await expect.poll(() => readdirSync(quarantine).length).toBe(PUSHES_AT_ONCE);
    await new Promise((done) => setTimeout(done, 200));
    expect(readdirSync(quarantine).length).toBe(PUSHES_AT_ONCE);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => readdirSync(quarantine)).toEqual([]);
  });

  it("that breaks off leaves nothing", async () => {
    const folder = await bed.clone();
    await bed.commit(folder, { "big.bin": randomBytes(3_000_000) });
    const before = bed.refs();
    for (let at = 0; at < 3; at++) {
      const socket = connect(bed.port, "127.0.0.1");
      const command = pktLine(`${NO_OBJECT} ${"2".repeat(40)} refs/heads/agent/x\0report-status side-band-64k`);
      socket.write("POST /app.git/git-receive-pack HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n");
      socket.write(Buffer.concat([command, FLUSH, packOf([blobOf("x")]).subarray(0, 20 * at)]));
      await new Promise((done) => setTimeout(done, 100));
      socket.destroy();
    }
    await expect.poll(() => readdirSync(join(bed.folder, "gate", "quarantine"))).toEqual([]);
    expect(bed.refs()).toEqual(before);
  });
});
