import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { dataPayload, exitPayload, FakeGuest, pack } from "../../test/guest/fake-guest.ts";
import { GuestFiles } from "./files.ts";
import { GUEST, HOST } from "./frame-types.ts";
import { encodeBytesHead, encodeDone } from "./records.ts";

const USER = { uid: 1000, gid: 1000 };
const STALL_MS = 200;
/** Longer than a stall is given, with room for a slow machine on the other side. */
const LONG_MS = 2 * STALL_MS;
const entry = pack(["raw", "Ef"], ["u32", 0o644], ["u64", 2], ["u64", 1], ["str", ""], ["str", ""]);
const bytes = (content: string) => Buffer.concat([encodeBytesHead(content.length), Buffer.from(content)]);

/** A guest whose builtin has started, and how to have it write. */
async function startedBuiltin() {
  const guest = new FakeGuest();
  const files = new GuestFiles(await guest.connect(), USER);
  const ready = guest.frame(HOST.SPAWN).then(({ stream }) => {
    guest.send(GUEST.STARTED, stream, pack(["u32", 1], ["u32", 10]));
    return stream;
  });
  let offset = 0;
  const say = async (record: Buffer | string) => {
    const data = Buffer.from(record);
    guest.send(GUEST.DATA, await ready, dataPayload(1, offset, data));
    offset += data.length;
  };
  const end = async () => guest.send(GUEST.EXIT, await ready, exitPayload(0));
  return { guest, files, ready, say, end };
}

describe("a builtin that does not answer", () => {
  it("G-08 is killed with all below it, and the caller is told", async () => {
    const { guest, files } = await startedBuiltin();
    await expect(files.stat("workspace", "x", { stallMs: STALL_MS })).rejects.toMatchObject({
      code: "SANDBOX_LOST",
      message: 'Cannot look at "x": the sandbox does not answer',
    });
    expect((await guest.frame(HOST.SIGNAL)).payload).toEqual(Buffer.of(9, 1));
  });

  it("G-08 is killed also when it takes no more of its input", async () => {
    const { guest, files } = await startedBuiltin();
    const writing = files.write("workspace", "x", Buffer.alloc(10), { stallMs: STALL_MS });
    await expect(writing).rejects.toMatchObject({ code: "SANDBOX_LOST" });
    expect((await guest.frame(HOST.SIGNAL)).payload).toEqual(Buffer.of(9, 1));
  });

  it("is none as long as it tells that it goes on", async () => {
    const { files, say, end } = await startedBuiltin();
    const removing = files.remove("workspace", "x", { stallMs: STALL_MS });
    for (let waited = 0; waited < LONG_MS; waited += STALL_MS / 10) {
      await sleep(STALL_MS / 10);
      await say("P");
    }
    await say(encodeDone(0));
    await end();
    await removing;
  });

  it("is not blamed for a caller who is slow to read", async () => {
    const { files, say, end } = await startedBuiltin();
    void say(Buffer.concat([entry, bytes("ab")]));
    const { chunks } = await files.read("workspace", "x", { stallMs: STALL_MS });
    const read: string[] = [];
    for await (const chunk of chunks) {
      await sleep(LONG_MS);
      read.push(chunk.toString());
      void say(encodeDone(2)).then(end);
    }
    expect(read).toEqual(["ab"]);
  });

  it("is not blamed for input that is slow to come", async () => {
    const { guest, files, ready, say, end } = await startedBuiltin();
    async function* slowly() {
      yield Buffer.from("a");
      await sleep(LONG_MS);
      yield Buffer.from("b");
    }
    const writing = files.write("workspace", "x", slowly(), { stallMs: STALL_MS });
    guest.send(GUEST.CREDIT, await ready, pack(["u8", 0], ["u32", 100]));
    await guest.frame(HOST.END);
    await say(encodeDone(2));
    await end();
    expect(await writing).toBe(2);
  });
});
