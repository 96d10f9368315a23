import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GuestClient } from "../../src/guest/client.ts";
import { collect, command, RealGuest } from "./real-guest.ts";

let guest: RealGuest;
let client: GuestClient;
beforeAll(async () => {
  guest = await RealGuest.start();
  client = await guest.client();
});
afterAll(async () => {
  await guest[Symbol.asyncDispose]();
});

const start = async (script: string, fields = {}) => {
  const process = client.spawn(command(["sh", "-c", script], { keep: true, ...fields }));
  return { process, number: (await process.started).process };
};

describe("watch()", () => {
  it("tells the exit of a process that runs, and of one that has ended", async () => {
    const { process, number } = await start("read go; exit 7", { stdin: true });
    const second = await guest.client();
    const watched = [client.watch(number), second.watch(number)];
    await second.ping();
    await process.write(Buffer.from("on\n"));
    for (const exit of await Promise.all(watched)) expect(exit).toMatchObject({ kind: "exited", code: 7 });
    process.discardOutput();
    await process.exit;
    expect(await client.watch(number)).toMatchObject({ kind: "exited", code: 7 });
    await client.forget(number);
    await expect(client.watch(number)).rejects.toMatchObject({ code: "COMMAND_NOT_FOUND" });
  });

  it("neither takes output nor holds it up, nor lets it go", async () => {
    const bytes = 300_000;
    const { process, number } = await start(`read go; head -c ${bytes} /dev/zero`, { stdin: true });
    const second = await guest.client();
    const watched = second.watch(number);
    await second.ping();
    await process.write(Buffer.from("\n"));
    const { stdout } = await collect(process);
    expect(stdout).toHaveLength(bytes);
    expect((await watched).code).toBe(0);
  });

  it("tells the exit although nobody has read the output, which is still there", async () => {
    const { process, number } = await start("head -c 50000 /dev/zero; exit 3", { ringBytes: 65_536 });
    process.detach();
    expect((await client.watch(number)).code).toBe(3);
    const { stdout, exit } = await collect(client.attach(number, { stdout: 0, stderr: 0 }));
    expect([stdout.length, exit.code]).toEqual([50_000, 3]);
  });

  it("leaves a process that is not kept to whoever reads it", async () => {
    const { process, number } = await start("read go; echo out", { stdin: true, keep: false });
    const watched = client.watch(number);
    await process.write(Buffer.from("\n"));
    expect((await watched).code).toBe(0);
    expect((await collect(process)).stdout).toBe("out\n");
  });

  it("ends with the process when that is forgotten, and by its signal without it", async () => {
    const { process, number } = await start("sleep 100");
    process.discardOutput();
    const abort = new AbortController();
    const left = client.watch(number, abort.signal);
    abort.abort();
    await expect(left).rejects.toMatchObject({ code: "CANCELLED" });
    const watched = client.watch(number);
    await client.forget(number);
    expect(await watched).toMatchObject({ kind: "signalled", code: 9 });
  });
});
