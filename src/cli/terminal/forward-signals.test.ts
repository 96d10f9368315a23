import { expect, it } from "vitest";
import { createMemoryIo } from "../../../test/helpers/memory-io.ts";
import { forwardSignals } from "./forward-signals.ts";

function setUp(answer: () => Promise<void> = () => Promise.resolve()) {
  const io = createMemoryIo();
  const sent: string[] = [];
  let time = 0;
  const signals = forwardSignals(
    io,
    (name) => {
      sent.push(name);
      return answer();
    },
    () => time,
  );
  const settled = () => new Promise((done) => setImmediate(done));
  return { io, sent, signals, settled, wait: (milliseconds: number) => (time += milliseconds) };
}

it("kills at the second interrupt within two seconds, not later", async () => {
  const { io, sent, signals, settled, wait } = setUp();
  io.send("INT");
  await settled();
  wait(2000);
  io.send("INT");
  await settled();
  wait(1999);
  io.send("INT");
  expect(sent).toEqual(["INT", "INT", "KILL"]);
  signals.stop();
});

it("kills at the second request to end, whenever it comes", async () => {
  const { io, sent, signals, settled, wait } = setUp();
  io.send("TERM");
  await settled();
  wait(60_000);
  io.send("TERM");
  expect(sent).toEqual(["TERM", "KILL"]);
  signals.stop();
});

it("kills at a second interrupt, however late, when the first was never answered", () => {
  const { io, sent, signals, wait } = setUp(() => new Promise(() => undefined));
  io.send("INT");
  wait(60_000);
  io.send("INT");
  expect(sent).toEqual(["INT", "KILL"]);
  signals.stop();
});

it("gives up a second after a kill that did not end the command", async () => {
  const { io, signals } = setUp();
  io.send("TERM");
  io.send("TERM");
  const began = performance.now();
  await expect(signals.abandoned).rejects.toMatchObject({ code: "CANCELLED" });
  expect(performance.now() - began).toBeGreaterThan(900);
  signals.stop();
});

it("gives up at once when a killed command's caller asks again", async () => {
  const { io, signals, settled } = setUp();
  for (let count = 0; count < 3; count += 1) io.send("INT");
  const first = Promise.race([signals.abandoned, settled()]);
  await expect(first, "before any timer").rejects.toMatchObject({ code: "CANCELLED" });
  signals.stop();
});

it("passes nothing on once it is stopped", () => {
  const { io, sent, signals } = setUp();
  signals.stop();
  io.send("TERM");
  expect(sent).toEqual([]);
});
