import { it, expect } from "vitest";
import { command, RealGuest } from "./real-guest.ts";
it("debug", async () => {
  await using guest = await RealGuest.start();
  const client = await guest.client();
  for (let n = 0; n < 200; n++) {
    const process = client.spawn(command(["perl", "-e", "$| = 1; $line = <STDIN>; print qq(got $line); sleep 314"], { pty: { cols: 80, rows: 25 }, stdin: true }));
    let text = "";
    await process.write(Buffer.from("hello\n"));
    for await (const { data } of process.output()) { text += data.toString(); if (text.includes("got hello")) await process.write(Buffer.of(3)); }
    expect(await process.exit).toMatchObject({ kind: "signalled", code: 2 });
  }
}, 60000);
