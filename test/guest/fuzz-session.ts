import type { GuestClient } from "../../src/guest/client.ts";
import { GuestFiles } from "../../src/guest/files.ts";
import { AGENT, collect, command } from "./real-guest.ts";

/**
 * Uses everything that a guest can answer. All streams are opened in one turn, always in the same order, so the guest's bytes of
 * one such session fit any later one. Gives what became of each.
 */
export function fuzzSession(client: GuestClient): Promise<PromiseSettledResult<unknown>[]> {
  const files = new GuestFiles(client, AGENT);
  const echo = client.spawn(command(["sh", "-c", "cat; echo fault >&2; exit 3"], { stdin: true, tag: "echo" }));
  const output = collect(echo);
  const write = echo.write(Buffer.from("input\n")).then(() => echo.endInput());
  const results = [
    output,
    write,
    echo.started,
    collect(client.spawn(command(["/no/such"]))),
    collect(client.spawn(command(["sh", "-c", "printf %03000d 7; kill -9 $$"]))),
    client.attach(4_000_000, { stdout: 5, stderr: 6 }).exit,
    client.processes(),
    client.forget(4_000_000),
    client.ping(),
    files.stat("workspace", "link"),
    files.stat("workspace", "none"),
    files.list("workspace", "", { recursive: true }),
    files.readAll("workspace", "folder/file", { maxBytes: 1000 }),
    files.changes(),
    takeTree(files),
    client.connectPort(1).then((socket) => socket.destroy()),
    client.listen(9099, (socket) => socket.resume()),
    client.watch(1),
    client.listenOnAddresses(9098, (socket) => socket.resume()),
    client.listenForDatagrams(9097, (data, answer) => answer(data)),
  ];
  return Promise.allSettled(results);
}

async function takeTree(files: GuestFiles): Promise<number> {
  let bytes = 0;
  for await (const item of files.treeOut("workspace", "")) {
    for await (const data of item.content ?? []) bytes += data.length;
  }
  return bytes;
}
