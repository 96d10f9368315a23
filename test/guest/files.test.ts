import { chownSync, lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GuestClient } from "../../src/guest/client.ts";
import { createTreeItem, GuestFiles, type TreeItem } from "../../src/guest/files.ts";
import { AGENT, RealGuest, shell } from "./real-guest.ts";

let guest: RealGuest;
let client: GuestClient;
let files: GuestFiles;
beforeAll(async () => {
  guest = await RealGuest.start();
  client = await guest.client();
  files = new GuestFiles(client, AGENT);
});
afterAll(async () => {
  await guest[Symbol.asyncDispose]();
});

const inWorkspace = (...parts: string[]) => join(guest.workspace, ...parts);
const code = (value: string) => ({ code: value });

async function* pieces(...parts: (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield await Promise.resolve(Buffer.from(part));
}

describe("readMany", () => {
  const read = async (paths: readonly (string | Buffer)[], maxBytes = 100) => {
    const told: string[] = [];
    const wanted = paths.map((path) => ({ path, maxBytes }));
    for await (const found of files.readMany("workspace", wanted)) {
      if (!("content" in found)) told.push(constants.errno.ENOENT === found.errno ? "none" : `errno ${found.errno}`);
      else told.push(`${found.entry.type} ${found.entry.linkTarget ?? found.content.toString()}`);
    }
    return told;
  };

  it("tells what each path holds, in their order, and cuts what is longer than asked for", async () => {
    await files.write("workspace", "many/a/one", Buffer.from("1"));
    await files.write("workspace", "many/a/two", Buffer.from("22"));
    await files.write("workspace", Buffer.from("many/\xff\xfe", "latin1"), Buffer.from("bytes"));
    const paths = ["many/a/two", "many/b/none", "many/a/one", "many", Buffer.from("many/\xff\xfe", "latin1"), "none"];
    expect(await read(paths)).toEqual(["file 22", "none", "file 1", "directory ", "file bytes", "none"]);
    expect(await read(["many/a/two"], 1)).toEqual(["file 2"]);
    expect(await read([])).toEqual([]);
  });

  it("G-11: follows no link, leaves no root, and goes on after what cannot be read", async () => {
    await files.write("workspace", "many/last", Buffer.from("last"));
    symlinkSync("/etc", inWorkspace("many/out"));
    symlinkSync("last", inWorkspace("many/in"));
    writeFileSync(inWorkspace("many/closed"), "root's", { mode: 0o600 });
    const paths = [
      "../x",
      "many/../many/last",
      "/many/last",
      "many//last",
      "",
      "many/out/passwd",
      "many/out",
      "many/in",
    ];
    const long = `${"d/".repeat(3000)}f`;
    expect(await read([...paths, "many/closed", long, "many/last"])).toEqual([
      ...Array<string>(5).fill(`errno ${constants.errno.EINVAL}`),
      "none",
      "symlink /etc",
      "symlink last",
      `errno ${constants.errno.EACCES}`,
      `errno ${constants.errno.ENAMETOOLONG}`,
      "file last",
    ]);
  });

  it("reads thousands of files in one call", async () => {
    mkdirSync(inWorkspace("thousands"));
    const names = Array.from({ length: 3000 }, (_, index) => `thousands/${index}`);
    for (const name of names) writeFileSync(inWorkspace(name), name.repeat(50), { mode: 0o644 });
    expect(await read(names, 10_000)).toEqual(names.map((name) => `file ${name.repeat(50)}`));
  });
});

describe("write and read", () => {
  it("carry a file with its mode, as the user", async () => {
    expect(await files.write("workspace", "deep/er/notes.txt", Buffer.from("hello"), { mode: 0o640 })).toBe(5);
    const stat = lstatSync(inWorkspace("deep/er/notes.txt"));
    expect([stat.mode & 0o7777, stat.uid, stat.size]).toEqual([0o640, AGENT.uid, 5]);
    const { entry, content, truncated } = await files.readAll("workspace", "deep/er/notes.txt", { maxBytes: 100 });
    expect(content.toString()).toBe("hello");
    expect(truncated).toBe(false);
    expect(entry).toMatchObject({ type: "file", mode: 0o640, size: 5, linkTarget: null });
  });

  it("keep the old file's mode, and make new files 644", async () => {
    await files.write("workspace", "mode.sh", Buffer.from("1"), { mode: 0o755 });
    await files.write("workspace", "mode.sh", Buffer.from("2"));
    await files.write("workspace", "plain", Buffer.from("3"));
    expect(lstatSync(inWorkspace("mode.sh")).mode & 0o777).toBe(0o755);
    expect(lstatSync(inWorkspace("plain")).mode & 0o777).toBe(0o644);
  });

  it("carry megabytes, in a stream, and parts of them", async () => {
    const block = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * 31) & 0xff));
    expect(await files.write("workspace", "large", pieces(...Array<Buffer>(50).fill(block)))).toBe(5_000_000);
    const { chunks } = await files.read("workspace", "large");
    let bytes = 0;
    for await (const chunk of chunks) bytes += chunk.length;
    expect(bytes).toBe(5_000_000);
    const part = await files.readAll("workspace", "large", { offset: 99_990, maxBytes: 20 });
    expect(part.content.equals(Buffer.concat([block.subarray(-10), block.subarray(0, 10)]))).toBe(true);
    expect(part.truncated).toBe(true);
  });

  it("leave nothing of a write whose content failed", async () => {
    await files.write("workspace", "whole", Buffer.from("old"));
    async function* broken() {
      yield await Promise.resolve(Buffer.alloc(200_000));
      throw new Error("source broke");
    }
    await expect(files.write("workspace", "whole", broken())).rejects.toThrow("source broke");
    expect(readFileSync(inWorkspace("whole"), "utf8")).toBe("old");
    const names = (await files.list("workspace", "")).map(({ path }) => path);
    expect(names.filter((name) => name.includes("tmp") || name.startsWith("."))).toEqual([]);
  });

  it("can be left in the middle", async () => {
    const { chunks } = await files.read("workspace", "large");
    for await (const chunk of chunks) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    await client.ping();
    expect((await files.stat("workspace", "large")).size).toBe(5_000_000);
  });

  it("say what is wrong, with the path as given", async () => {
    await files.mkdir("workspace", "folder");
    await expect(files.readAll("workspace", "none", { maxBytes: 1 })).rejects.toMatchObject(code("FILE_NOT_FOUND"));
    await expect(files.readAll("workspace", "folder", { maxBytes: 1 })).rejects.toMatchObject(code("FILE_WRONG_TYPE"));
    await expect(files.readAll("system", "dev/null", { maxBytes: 1 })).rejects.toMatchObject(code("FILE_WRONG_TYPE"));
    await expect(files.write("workspace", "plain/x", Buffer.alloc(1))).rejects.toMatchObject(code("FILE_WRONG_TYPE"));
    await expect(files.write("workspace", "folder", Buffer.alloc(1))).rejects.toMatchObject(code("FILE_WRONG_TYPE"));
    await expect(files.write("system", "etc/passwd", Buffer.alloc(1))).rejects.toMatchObject(code("FILE_FAILED"));
    const shownPath = "/workspace/none";
    await expect(files.stat("workspace", "none", { shownPath })).rejects.toThrow(
      'Cannot look at "/workspace/none": it does not exist',
    );
  });
});

describe("links", () => {
  beforeAll(() => {
    writeFileSync(join(guest.directory, "secret"), "secret", { mode: 0o644 });
    mkdirSync(inWorkspace("links/inner"), { recursive: true });
    for (const folder of ["links", "links/inner"]) chownSync(inWorkspace(folder), AGENT.uid, AGENT.gid);
    writeFileSync(inWorkspace("links/inner/file"), "inside");
    chownSync(inWorkspace("links/inner/file"), AGENT.uid, AGENT.gid);
    symlinkSync("../../secret", inWorkspace("links/out"));
    symlinkSync("/etc/passwd", inWorkspace("links/absolute"));
    symlinkSync("/etc", inWorkspace("links/etc"));
    symlinkSync("inner/file", inWorkspace("links/stays"));
    symlinkSync("inner", inWorkspace("links/stays-folder"));
    symlinkSync("circle", inWorkspace("links/circle"));
    symlinkSync("gone", inWorkspace("links/dangling"));
  });

  it.each(["links/out", "links/absolute", "links/etc/passwd", "../secret", "links/circle"])(
    "do not lead out of the workspace: %s",
    async (path) => {
      const outside = code("PATH_OUTSIDE_WORKSPACE");
      await expect(files.readAll("workspace", path, { maxBytes: 100 })).rejects.toMatchObject(outside);
      await expect(files.write("workspace", path, Buffer.from("x"))).rejects.toMatchObject(outside);
      expect(readFileSync(join(guest.directory, "secret"), "utf8")).toBe("secret");
    },
  );

  it.each(["links/etc/x", "../x"])("let nothing be made or removed outside: %s", async (path) => {
    const outside = code("PATH_OUTSIDE_WORKSPACE");
    await expect(files.mkdir("workspace", path)).rejects.toMatchObject(outside);
    await expect(files.remove("workspace", path, { recursive: true })).rejects.toMatchObject(outside);
    await expect(files.stat("workspace", path)).rejects.toMatchObject(outside);
    await expect(files.list("workspace", path)).rejects.toMatchObject(outside);
  });

  it("are followed as long as they stay in", async () => {
    for (const path of ["links/stays", "links/stays-folder/file"]) {
      expect((await files.readAll("workspace", path, { maxBytes: 100 })).content.toString()).toBe("inside");
    }
    await files.write("workspace", "links/stays", Buffer.from("through"));
    expect(readFileSync(inWorkspace("links/inner/file"), "utf8")).toBe("through");
    expect(readlinkSync(inWorkspace("links/stays"))).toBe("inner/file");
  });

  it("are shown as links, not as what they point to", async () => {
    expect(await files.stat("workspace", "links/out")).toMatchObject({ type: "symlink", linkTarget: "../../secret" });
    const { length } = await files.list("workspace", "links", { recursive: true });
    expect(length).toBe(9);
  });

  it("are removed themselves", async () => {
    await files.remove("workspace", "links/etc", { recursive: true });
    await expect(files.stat("workspace", "links/etc")).rejects.toMatchObject(code("FILE_NOT_FOUND"));
    expect(lstatSync("/etc").isDirectory()).toBe(true);
  });
});

describe("list, mkdir and remove", () => {
  it("list sorted by bytes, parents first, and refuse to list too much", async () => {
    for (const name of ["l/b", "l/B", "l/a/z", "l/a/y", "l/é"]) await files.write("workspace", name, Buffer.alloc(0));
    const flat = await files.list("workspace", "l");
    expect(flat.map(({ path, type }) => `${type} ${path}`)).toEqual(["file B", "directory a", "file b", "file é"]);
    const deep = await files.list("workspace", "l", { recursive: true });
    expect(deep.map(({ path }) => path)).toEqual(["B", "a", "a/y", "a/z", "b", "é"]);
    await expect(files.list("workspace", "l", { recursive: true, maxEntries: 5 })).rejects.toMatchObject(
      code("TOO_MANY_ENTRIES"),
    );
    expect(await files.list("workspace", "l", { recursive: true, maxEntries: 6 })).toHaveLength(6);
  });

  it("make folders with parents, and are content with one that is there", async () => {
    await files.mkdir("workspace", "m/n/o");
    await files.mkdir("workspace", "m/n/o");
    expect((await files.stat("workspace", "m/n/o")).type).toBe("directory");
    await files.write("workspace", "m/file", Buffer.alloc(0));
    await expect(files.mkdir("workspace", "m/file")).rejects.toMatchObject({ code: expect.any(String) as string });
  });

  it("remove a full folder only when told to", async () => {
    await files.write("workspace", "r/s/t", Buffer.alloc(0));
    await expect(files.remove("workspace", "r")).rejects.toMatchObject(code("FILE_FAILED"));
    await files.remove("workspace", "r", { recursive: true });
    await expect(files.stat("workspace", "r")).rejects.toMatchObject(code("FILE_NOT_FOUND"));
    await expect(files.remove("workspace", "r")).rejects.toMatchObject(code("FILE_NOT_FOUND"));
  });

  it("reach a name that is not UTF-8 by its bytes", async () => {
    const name = Buffer.from([0x6e, 0xff, 0x0a]);
    await files.write("workspace", name, Buffer.from("odd"));
    const entry = (await files.list("workspace", "")).find(({ pathBytes }) => pathBytes.equals(name));
    expect(entry?.path).toBe("n\ufffd\n");
    expect((await files.readAll("workspace", entry!.pathBytes, { maxBytes: 10 })).content.toString()).toBe("odd");
    await files.remove("workspace", name);
  });
});

describe("trees", () => {
  const odd = Buffer.from([0x6f, 0xfe, 0xff]);
  const content = Buffer.alloc(300_000, "tree");
  const tree = (): TreeItem[] => [
    createTreeItem({ path: "sub", type: "directory", mode: 0o750 }),
    createTreeItem({
      path: "sub/new\nline",
      type: "file",
      mode: 0o600,
      content: pieces("a", "b"),
      mtimeNs: 1_500_000_000_123_456_789n,
    }),
    createTreeItem({
      path: Buffer.concat([Buffer.from("sub/"), odd]),
      type: "file",
      mode: 0o755,
      content: pieces(content),
    }),
    createTreeItem({ path: "sub/link", type: "symlink", mode: 0o777, linkTarget: "/etc/passwd" }),
    createTreeItem({ path: "empty", type: "file", mode: 0o644 }),
  ];

  async function take(path: string) {
    const seen = [];
    for await (const item of files.treeOut("workspace", path)) {
      const parts: Uint8Array[] = [];
      for await (const data of item.content ?? []) parts.push(Buffer.from(data));
      seen.push({ ...item, content: item.content && Buffer.concat(parts) });
    }
    return seen;
  }

  it("go in and come out the same, odd names included", async () => {
    await files.mkdir("workspace", "tree");
    expect(await files.treeIn("workspace", "tree", tree())).toBe(300_002);
    const out = await take("tree");
    expect(out.map(({ type, pathBytes }) => `${type} ${pathBytes.toString("latin1")}`)).toEqual([
      "directory ",
      "file empty",
      "directory sub",
      "symlink sub/link",
      "file sub/new\nline",
      "file sub/o\xfe\xff",
    ]);
    const [, , sub, link, newline, last] = out;
    expect(sub?.mode).toBe(0o750);
    expect(link?.linkTarget).toBe("/etc/passwd");
    expect(newline).toMatchObject({ mode: 0o600, size: 2, content: Buffer.from("ab") });
    expect(last?.mode).toBe(0o755);
    expect(last?.content?.equals(content)).toBe(true);
  });

  it("replace files and keep folders", async () => {
    await files.write("workspace", "tree/sub/kept", Buffer.from("kept"));
    const again = createTreeItem({ path: "sub/new\nline", type: "file", mode: 0o644, content: pieces("again") });
    await files.treeIn("workspace", "tree", [createTreeItem({ path: "sub", type: "directory", mode: 0o755 }), again]);
    expect(readFileSync(inWorkspace("tree/sub/new\nline"), "utf8")).toBe("again");
    expect(readFileSync(inWorkspace("tree/sub/kept"), "utf8")).toBe("kept");
  });

  it("do not go in through a link", async () => {
    const items = [
      createTreeItem({ path: "door", type: "symlink", mode: 0o777, linkTarget: "/tmp" }),
      createTreeItem({ path: "door/cloche-escaped", type: "file", mode: 0o644, content: pieces("x") }),
    ];
    await expect(files.treeIn("workspace", "tree", items)).rejects.toMatchObject({
      code: expect.any(String) as string,
    });
    expect(() => lstatSync("/tmp/cloche-escaped")).toThrow("ENOENT");
  });

  it("of one file are that file", async () => {
    const out = await take("plain");
    expect(out).toMatchObject([{ type: "file", path: "", content: Buffer.from("3") }]);
  });

  it("leave out pipes and sockets", async () => {
    await shell(client, "mkdir special && mkfifo special/pipe && echo x > special/file", { cwd: guest.workspace });
    expect((await take("special")).map(({ path }) => path)).toEqual(["", "file"]);
  });

  it("come out as far as they are wanted", async () => {
    for await (const item of files.treeOut("workspace", "tree")) {
      expect(item.path).toBe("");
      break;
    }
    await client.ping();
  });
});
