import { constants } from "node:os";
import { describe, expect, it } from "vitest";
import { dataPayload, exitPayload, FakeGuest, pack, settle } from "../../test/guest/fake-guest.ts";
import { createTreeItem, GuestFiles } from "./files.ts";
import { GUEST, HOST } from "./frame-types.ts";
import { encodeBytesHead, encodeDone, encodeFileEnd } from "./records.ts";

const USER = { uid: 1000, gid: 1000 };
const entry = (path: string, size = 3) =>
  pack(["raw", "Ef"], ["u32", 0o644], ["u64", size], ["u64", 1], ["str", path], ["str", ""]);
const fault = (errno: number, message = "why") => pack(["raw", "X"], ["u32", errno], ["str", message]);
const bytes = (content: string) => Buffer.concat([encodeBytesHead(content.length), Buffer.from(content)]);
const change = (path: string) =>
  pack(["raw", "CAf"], ["u32", 0], ["u64", 0], ["raw", "-"], ["u32", 0], ["u64", 0], ["str", path]);

/** Files of a guest whose next builtin writes these bytes and exits. */
async function filesAnswering(...records: Uint8Array[]) {
  const guest = new FakeGuest();
  const client = await guest.connect();
  void guest.frame(HOST.SPAWN).then(({ stream }) => {
    const output = Buffer.concat(records);
    guest.send(GUEST.STARTED, stream, pack(["u32", 1], ["u32", 10]));
    guest.send(GUEST.DATA, stream, dataPayload(1, 0, output));
    guest.send(GUEST.EXIT, stream, exitPayload(0));
  });
  return { guest, client, files: new GuestFiles(client, USER) };
}

describe("GuestFiles errors", () => {
  const { errno } = constants;
  it.each([
    [errno.ENOENT, "FILE_NOT_FOUND"],
    [errno.EXDEV, "PATH_OUTSIDE_WORKSPACE"],
    [errno.ELOOP, "PATH_OUTSIDE_WORKSPACE"],
    [errno.EISDIR, "FILE_WRONG_TYPE"],
    [errno.ENOTDIR, "FILE_WRONG_TYPE"],
    [errno.EINVAL, "FILE_WRONG_TYPE"],
    [errno.ENOSPC, "DISK_FULL"],
    [errno.EDQUOT, "DISK_FULL"],
    [errno.EFBIG, "FILE_TOO_LARGE"],
    [errno.E2BIG, "TOO_MANY_ENTRIES"],
    [errno.EACCES, "FILE_FAILED"],
    [4711, "FILE_FAILED"],
  ])("errno %d is %s", async (number, code) => {
    const { files } = await filesAnswering(fault(number));
    const reading = files.readAll("workspace", "a/b", { maxBytes: 10, shownPath: "/workspace/a/b" });
    await expect(reading).rejects.toMatchObject({
      code,
      message: expect.stringContaining('"/workspace/a/b"') as string,
    });
  });

  it("an unknown errno shows what the guest says", async () => {
    const { files } = await filesAnswering(fault(4711, "strange"));
    await expect(files.stat("workspace", "x")).rejects.toThrow('Cannot look at "x": strange');
  });

  it.each([
    ["an unknown record", [Buffer.from("?")]],
    ["nothing", []],
    ["half a record", [entry("a").subarray(0, 9)]],
    ["an entry too many", [entry(""), entry(""), encodeDone(0)]],
    ["another record", [change("a"), encodeDone(0)]],
    ["no entry", [encodeDone(0)]],
  ])("a builtin that writes %s fails that call and leaves the connection alone", async (_name, records) => {
    const { guest, client, files } = await filesAnswering(...records);
    const code = expect.stringMatching(/GUEST_PROTOCOL|TOO_MANY_ENTRIES/) as string;
    await expect(files.stat("workspace", "x")).rejects.toMatchObject({ code });
    const pong = client.ping();
    guest.send(GUEST.PONG, 0, (await guest.frame(HOST.PING)).payload);
    await pong;
  });
});

describe("GuestFiles limits that a guest ignores", () => {
  it("more entries than asked for are refused", async () => {
    const { files } = await filesAnswering(entry("a"), entry("b"), entry("c"), encodeDone(0));
    await expect(files.list("workspace", "", { maxEntries: 2 })).rejects.toMatchObject({ code: "TOO_MANY_ENTRIES" });
    const more = await filesAnswering(change("a"), change("b"), encodeDone(0));
    await expect(more.files.changes({ maxEntries: 1 })).rejects.toMatchObject({ code: "TOO_MANY_ENTRIES" });
  });

  it("more content than asked for is refused", async () => {
    const { files } = await filesAnswering(entry(""), bytes("abcdef"), encodeDone(6));
    await expect(files.readAll("workspace", "x", { maxBytes: 5 })).rejects.toMatchObject({ code: "GUEST_PROTOCOL" });
  });
});

describe("GuestFiles", () => {
  it("tells when content was cut by the cap", async () => {
    const cut = await filesAnswering(entry("", 9), bytes("abc"), encodeDone(3));
    const result = await cut.files.readAll("workspace", "x", { maxBytes: 3 });
    expect([result.content.toString(), result.truncated]).toEqual(["abc", true]);
    const whole = await filesAnswering(entry("", 3), bytes("abc"), encodeDone(3));
    expect((await whole.files.readAll("workspace", "x", { maxBytes: 9 })).truncated).toBe(false);
  });

  it("skips content of a tree that was not read", async () => {
    const member = (path: string) => [entry(path), bytes("abc"), bytes("def"), encodeFileEnd()];
    const { files } = await filesAnswering(...member("a"), ...member("b"), encodeDone(12));
    const seen: string[] = [];
    for await (const item of files.treeOut("workspace", "")) {
      seen.push(item.path);
      if (item.path !== "a") for await (const data of item.content!) seen.push(Buffer.from(data).toString());
    }
    expect(seen).toEqual(["a", "b", "abc", "def"]);
  });

  it("does not take a tree for whole that has lost content on the way", async () => {
    const { files } = await filesAnswering(entry("a", 6), bytes("abc"), encodeFileEnd(), encodeDone(6));
    const items = files.treeOut("workspace", "");
    await items.next();
    await expect(items.next()).rejects.toMatchObject({ code: "GUEST_PROTOCOL" });
  });

  it("kills the builtin when the caller cancels, without waiting for it", async () => {
    const guest = new FakeGuest();
    const files = new GuestFiles(await guest.connect(), USER);
    const controller = new AbortController();
    const reading = files.stat("workspace", "x", { signal: controller.signal });
    guest.send(GUEST.STARTED, (await guest.frame(HOST.SPAWN)).stream, pack(["u32", 1], ["u32", 1]));
    controller.abort();
    await expect(reading).rejects.toMatchObject({ code: "CANCELLED" });
    expect((await guest.frame(HOST.SIGNAL)).payload).toEqual(Buffer.of(15, 1));
  });

  it("kills the builtin instead of ending its input when the content fails", async () => {
    const guest = new FakeGuest();
    const files = new GuestFiles(await guest.connect(), USER);
    async function* content() {
      yield Buffer.from("half");
      await settle();
      throw new Error("disk broke");
    }
    const writing = files.write("workspace", "x", content());
    const { stream } = await guest.frame(HOST.SPAWN);
    guest.send(GUEST.STARTED, stream, pack(["u32", 1], ["u32", 1]));
    guest.send(GUEST.CREDIT, stream, pack(["u8", 0], ["u32", 1000]));
    await guest.frame(HOST.SIGNAL);
    guest.send(GUEST.EXIT, stream, pack(["u8", 1], ["u8", 0], ["i32", 9], ["u64", 1], ["str", ""]));
    await expect(writing).rejects.toThrow("disk broke");
    expect(guest.frames.some(({ type }) => type === HOST.END)).toBe(false);
  });

  it("stops sending when the builtin has failed", async () => {
    const guest = new FakeGuest();
    const files = new GuestFiles(await guest.connect(), USER);
    let taken = 0;
    async function* content() {
      for (;;) {
        taken++;
        yield Buffer.alloc(1000);
        await settle();
      }
    }
    const writing = files.write("workspace", "x", content());
    const { stream } = await guest.frame(HOST.SPAWN);
    guest.send(GUEST.STARTED, stream, pack(["u32", 1], ["u32", 1]));
    guest.send(GUEST.DATA, stream, dataPayload(1, 0, fault(28)));
    guest.send(GUEST.EXIT, stream, exitPayload(1));
    await expect(writing).rejects.toMatchObject({ code: "DISK_FULL" });
    await settle();
    const before = taken;
    await settle();
    expect(taken).toBe(before);
  });

  it.each(["../x", "/x", "a//b", "a/../b"])("does not send a member with the path %j", async (path) => {
    const guest = new FakeGuest();
    const files = new GuestFiles(await guest.connect(), USER);
    const writing = files.treeIn("workspace", "", [createTreeItem({ path, type: "directory", mode: 0o755 })]);
    const { stream } = await guest.frame(HOST.SPAWN);
    guest.send(GUEST.STARTED, stream, pack(["u32", 1], ["u32", 1]));
    await guest.frame(HOST.SIGNAL);
    guest.send(GUEST.EXIT, stream, pack(["u8", 1], ["u8", 0], ["i32", 9], ["u64", 1], ["str", ""]));
    await expect(writing).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});
