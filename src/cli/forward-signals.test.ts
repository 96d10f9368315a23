import { expect, it } from "vitest";
import { createMemoryIo } from "../../test/helpers/memory-io.ts";
import { forwardSignals } from "./forward-signals.ts";

function setUp() {
  const io = createMemoryIo();
  const sent: string[] = [];
  let time = 0;
  const signals = forwardSignals(
    io,
    (name) => {
      sent.push(name);
      return Promise.resolve();
    },
    () => time,
  );
  return { io, sent, signals, wait: (milliseconds: number) => (time += milliseconds) };
}

it("kills at the second signal of a kind within two seconds, not later", () => {
  const { io, sent, wait } = setUp();
  io.send("INT");
  wait(2000);
  io.send("INT");
  io.send("TERM");
  wait(1999);
  io.send("INT");
  expect(sent).toEqual(["INT", "INT", "TERM", "KILL"]);
});

it("gives up waiting when a killed command's caller asks again", async () => {
  const { io, sent, signals } = setUp();
  for (let count = 0; count < 3; count += 1) io.send("INT");
  expect(sent).toEqual(["INT", "KILL"]);
  await expect(signals.abandoned).rejects.toMatchObject({ code: "CANCELLED" });
});

it("passes nothing on once it is stopped", () => {
  const { io, sent, signals } = setUp();
  signals.stop();
  io.send("TERM");
  expect(sent).toEqual([]);
});
