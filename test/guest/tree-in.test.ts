import { chmodSync, chownSync, mkdirSync, symlinkSync, lchownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { GuestClient } from "../../src/guest/client.ts";
import { createTreeItem, GuestFiles, type TreeChange } from "../../src/guest/files.ts";
import { AGENT, RealGuest, shell } from "./real-guest.ts";

let guest: RealGuest;
let client: GuestClient;
let files: GuestFiles;

beforeAll(async () => {
  guest = await RealGuest.start(true, ({ baseline }) => {
    for (const folder of ["lower", "lower/sub", "closed"]) {
      mkdirSync(join(baseline, folder));
      chownSync(join(baseline, folder), AGENT.uid, AGENT.gid);
    }
    for (const file of ["file", "other", "lower/a", "lower/sub/b"]) {
      writeFileSync(join(baseline, file), `${file}\n`);
      chmodSync(join(baseline, file), 0o640);
      chownSync(join(baseline, file), AGENT.uid, AGENT.gid);
    }
    symlinkSync("lower", join(baseline, "way"));
    lchownSync(join(baseline, "way"), AGENT.uid, AGENT.gid);
    chmodSync(join(baseline, "lower/sub"), 0o750);
    chmodSync(join(baseline, "closed"), 0o555);
  });
  client = await guest.client();
  files = new GuestFiles(client, AGENT);
});
afterAll(async () => {
  await guest[Symbol.asyncDispose]();
});

/** Every path with its mode and content or target, as the sandbox sees it. */
async function picture(): Promise<string> {
  const script = `find . -mindepth 1 -printf '%P %y %m %l ' '(' ! -type f -o -exec cat {} ';' ')' -printf '\\n' | sort`;
  const { stdout, exit } = await shell(client, script, { cwd: guest.workspace });
  expect(exit.code).toBe(0);
  return stdout;
}

async function* content(text: string) {
  yield await Promise.resolve(Buffer.from(text));
}
const file = (path: string, text: string, mode = 0o644) =>
  createTreeItem({ path, type: "file", mode, content: content(text) });
const folder = (path: string, mode = 0o755) => createTreeItem({ path, type: "directory", mode });
const link = (path: string, linkTarget: string) => createTreeItem({ path, type: "symlink", mode: 0o777, linkTarget });
const removal = (path: string): TreeChange => ({ type: "removal", path });

describe("a tree that cannot be put in place", () => {
  let before: string;
  beforeEach(async () => {
    before = await picture();
  });

  const prelude = () => [
    file("file", "new content", 0o755),
    file("new/deep/er", "x"),
    folder("new-folder", 0o500),
    file("new-folder/in", "y"),
    removal("lower"),
    file("lower", "was a folder"),
    removal("other"),
    folder("other"),
    link("lnk", "file"),
  ];

  it.each<[string, () => TreeChange[], string, string]>([
    ["a file where a folder is", () => [file("closed", "x")], "FILE_WRONG_TYPE", '"closed" is a folder'],
    ["a folder where a file is", () => [folder("file")], "FILE_WRONG_TYPE", '"file" is not a folder'],
    ["a missing path to remove", () => [removal("none/x")], "FILE_NOT_FOUND", '"none/x"'],
    ["a way through a file", () => [file("file/x", "x")], "FILE_WRONG_TYPE", '"file/x" is not a folder'],
    [
      "a way through a link that stays",
      () => [file("way/x", "x")],
      "PATH_OUTSIDE_WORKSPACE",
      '"way/x" passes through a link',
    ],
    [
      "a way through its own link",
      () => [link("own", "/tmp"), file("own/x", "x")],
      "PATH_OUTSIDE_WORKSPACE",
      '"own/x"',
    ],
    ["a folder that may not be written", () => [file("closed/x", "x")], "FILE_FAILED", '"closed/x"'],
  ])("leaves everything as it was: %s", async (_, items, code, named) => {
    const put = files.treeIn("workspace", "", [...prelude(), ...items()]);
    await expect(put).rejects.toMatchObject({ code, message: expect.stringContaining(named) as string });
    expect(await picture()).toBe(before);
  });

  it("leaves nothing when its source breaks", async () => {
    async function* broken() {
      yield* prelude();
      await files.stat("workspace", "file");
      throw new Error("source broke");
    }
    await expect(files.treeIn("workspace", "made/here", broken())).rejects.toThrow("source broke");
    await client.ping();
    expect(await settled()).toBe(before);
  });

  it("leaves nothing when the caller ends it", async () => {
    const abort = new AbortController();
    async function* endless() {
      yield* prelude();
      abort.abort();
      await new Promise(() => undefined);
    }
    await expect(files.treeIn("workspace", "", endless(), { signal: abort.signal })).rejects.toMatchObject({
      code: "CANCELLED",
    });
    expect(await settled()).toBe(before);
  });

  /** A builtin that was told to end cleans up before it goes. */
  async function settled(): Promise<string> {
    for (;;) {
      const running = (await client.processes()).filter(({ exit }) => exit === undefined);
      if (running.length === 0) return picture();
    }
  }
});

describe("a tree that is put in place", () => {
  it("removes, replaces and makes, in order, on top of lower layers", async () => {
    await files.mkdir("workspace", "upper/in");
    await files.write("workspace", "upper/in/x", Buffer.from("x"), { mode: 0o400 });
    const bytes = await files.treeIn("workspace", "", [
      removal("lower"),
      file("lower", "now a file", 0o4755),
      removal("file"),
      folder("file", 0o700),
      file("file/inside", "in"),
      removal("upper"),
      file("gone", "soon"),
      removal("gone"),
      folder("short/lived"),
      removal("short"),
      file("later/a", "a"),
      folder("later", 0o550),
      link("other", "nowhere"),
    ]);
    expect(bytes).toBe("now a filein".length + "soona".length);
    expect((await picture()).split("\n").filter((line) => !line.startsWith("closed") && line !== "")).toEqual([
      "file d 700  ",
      "file/inside f 644  in",
      "later d 550  ",
      "later/a f 644  a",
      "lower f 755  now a file",
      "other l 777 nowhere ",
      "way l 777 lower ",
    ]);
  });

  it("makes its destination, through a link that stays", async () => {
    await files.treeIn("workspace", "some/where/new", [file("f", "1")]);
    await shell(client, "ln -s some/where shortcut", { cwd: guest.workspace });
    await files.treeIn("workspace", "shortcut/else", [folder("", 0o711), file("f", "2")]);
    await files.treeIn("workspace", "some/empty", []);
    expect((await files.readAll("workspace", "some/where/else/f", { maxBytes: 9 })).content.toString()).toBe("2");
    expect((await files.stat("workspace", "some/where/else")).mode).toBe(0o711);
    expect((await files.stat("workspace", "some/empty")).type).toBe("directory");
    await files.treeIn("workspace", "some/file", [file("", "just a file")]);
    expect((await files.readAll("workspace", "some/file", { maxBytes: 99 })).content.toString()).toBe("just a file");
  });

  it("never shows a replaced file as missing", async () => {
    await files.write("workspace", "watched", Buffer.from("0"));
    const watcher = client.spawn({
      argv: ["sh", "-c", "while [ ! -e stop ]; do [ -e watched ] || echo missing; done"],
      env: { PATH: "/usr/bin:/bin" },
      cwd: guest.workspace,
      user: AGENT,
    });
    for (let turn = 0; turn < 30; turn++) await files.treeIn("workspace", "", [file("watched", String(turn))]);
    await files.write("workspace", "stop", Buffer.alloc(0));
    let seen = "";
    for await (const { data } of watcher.output()) seen += data.toString();
    expect(seen).toBe("");
  });
});

describe("a tree whose sender has died", () => {
  it("leaves nothing, also when the next daemon forgets the work before it has cleaned up", async () => {
    const before = await picture();
    async function* endless(): AsyncGenerator<TreeChange> {
      yield file("half/one", "x");
      await new Promise(() => undefined);
    }
    const sender = await guest.client();
    const sent = new GuestFiles(sender, AGENT).treeIn("workspace", "", endless()).catch((error: unknown) => error);
    await expect.poll(picture).toMatch(/^\.cloche-[0-9a-f]+ d/m);
    const [work] = (await client.processes()).filter(({ tag, exit }) => tag === "" && !exit);
    await client.forget(work!.process);
    expect(await picture()).toBe(before);
    sender.close();
    expect(await sent).toBeInstanceOf(Error);
  });
});
