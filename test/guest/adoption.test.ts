import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GuestClient } from "../../src/guest/client.ts";
import { collect, command, RealGuest, run } from "./real-guest.ts";

let guest: RealGuest;
let client: GuestClient;
beforeAll(async () => {
  guest = await RealGuest.start();
  client = await guest.client();
});
afterAll(async () => {
  await guest[Symbol.asyncDispose]();
});

const LINES = "for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done; read go; echo went $go; exit 5";

describe("a second connection", () => {
  it("works beside the first", async () => {
    const second = await guest.client();
    expect(second.hello.bootId).toBe(client.hello.bootId);
    const [one, two] = await Promise.all([run(client, ["echo", "one"]), run(second, ["echo", "two"])]);
    expect([one.stdout, two.stdout]).toEqual(["one\n", "two\n"]);
  });

  it("sees a process after the first connection died, and goes on where that was", async () => {
    const socket = await guest.socket();
    const first = await GuestClient.connect(socket);
    const process = first.spawn(command(["sh", "-c", LINES], { stdin: true, keep: true, tag: "exec:1" }));
    const { process: number } = await process.started;
    let seen = "";
    for await (const { data } of process.output()) {
      seen += data.toString();
      if (seen.includes("line 9")) break;
    }
    socket.destroy();
    expect(await first.closed).toMatchObject({ code: "SANDBOX_LOST" });
    await expect(process.exit).rejects.toMatchObject({ code: "SANDBOX_LOST" });

    const info = (await client.processes()).find(({ tag }) => tag === "exec:1");
    expect(info).toMatchObject({ process: number, exit: undefined, stdout: { end: 63 } });
    const again = client.attach(number, { stdout: 56, stderr: 0 });
    const result = collect(again);
    expect((await again.started).process).toBe(number);
    await again.write(Buffer.from("on\n"));
    expect(await result).toMatchObject({ stdout: "line 9\nwent on\n", exit: { kind: "exited", code: 5 } });
  });

  it("finds a kept process that ended meanwhile, with its output and exit, until it is forgotten", async () => {
    const process = client.spawn(command(["sh", "-c", "echo out; echo err >&2; exit 9"], { keep: true, tag: "kept" }));
    process.discardOutput();
    await process.exit;
    const info = (await client.processes()).find(({ tag }) => tag === "kept");
    expect(info?.exit).toEqual({ kind: "exited", code: 9, timedOut: false });
    const again = await collect(client.attach(info!.process, { stdout: 0, stderr: 1 }));
    expect(again).toMatchObject({ stderr: "rr\n", exit: { code: 9 } });
    await client.forget(info!.process);
    expect((await client.processes()).map(({ tag }) => tag)).not.toContain("kept");
    await expect(client.forget(info!.process)).rejects.toMatchObject({ code: "COMMAND_NOT_FOUND" });
    await client.forgetIfThere(info!.process);
    await expect(client.attach(info!.process, { stdout: 0, stderr: 0 }).started).rejects.toMatchObject({
      code: "COMMAND_NOT_FOUND",
    });
  });

  it("ends a running process by forgetting it", async () => {
    const process = client.spawn(command(["sleep", "321"]));
    const result = collect(process);
    await client.forget((await process.started).process);
    await Promise.allSettled([result]);
    expect((await run(client, ["sh", "-c", "grep -lx sleep /proc/[0-9]*/comm"])).stdout).toBe("");
  });

  it("detaches from a process that goes on", async () => {
    const process = client.spawn(command(["cat"], { stdin: true, keep: true, tag: "cat" }));
    const { process: number } = await process.started;
    process.detach();
    const again = client.attach(number, { stdout: 0, stderr: 0 });
    const result = collect(again);
    await again.write(Buffer.from("still here"));
    again.endInput();
    expect((await result).stdout).toBe("still here");
    await client.forget(number);
  });

  it("lists more processes than fit in one frame", async () => {
    const tag = "t".repeat(900);
    const many = Array.from({ length: 200 }, (_, at) =>
      client.spawn(command(["sleep", "322"], { tag: `${tag}${at}` })),
    );
    await Promise.all(many.map(({ started }) => started));
    expect((await client.processes()).filter((info) => info.tag.startsWith(tag))).toHaveLength(200);
    for (const process of many) {
      process.discardOutput();
      process.signal(9);
    }
    await Promise.all(many.map(({ exit }) => exit));
    expect((await client.processes()).filter((info) => info.tag.startsWith(tag))).toEqual([]);
  });
});

describe("the end of a sandbox", () => {
  it("is told to everything that waits when its first process is killed", async () => {
    await using own = await RealGuest.start();
    const lost = await own.client();
    const process = lost.spawn(command(["sleep", "323"]));
    await process.started;
    await own.kill();
    expect(await lost.closed).toMatchObject({ code: "SANDBOX_LOST" });
    await expect(process.exit).rejects.toMatchObject({ code: "SANDBOX_LOST" });
  });

  it("comes when asked for, and is no loss", async () => {
    await using own = await RealGuest.start();
    const socket = await own.socket();
    const asked = await GuestClient.connect(socket);
    const process = asked.spawn(command(["sleep", "324"]));
    await process.started;
    const closed = once(socket, "close");
    await asked.shutdown();
    expect(await asked.closed).toBeUndefined();
    await closed;
  });
});
