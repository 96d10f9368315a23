import { createWriteStream } from "node:fs";
import { chmod, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { openSocketAddress } from "../../base/unix-path.ts";
import { failure } from "../../model/error-codes.ts";
import type { Qmp } from "./qmp.ts";

const SOCKET = "save.sock";
/** A machine's devices have less than one. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Stops a machine and writes the state of its devices to a file. Its memory is left out: it is the emulator's, or in a file already. The machine stands
 * still when this resolves. `directory` is the emulator's own.
 */
export async function saveState(qmp: Qmp, directory: string, target: string): Promise<void> {
  const path = join(directory, SOCKET);
  await rm(path, { force: true });
  const address = openSocketAddress(path);
  const server = createServer();
  try {
    await new Promise<void>((done, fail) => server.once("error", fail).listen(address.path, done));
    // The emulator is another user. It gets here because this is its working folder; other users cannot pass the folders above.
    await chmod(path, 0o666);
    const received = new Promise<void>((done, fail) =>
      server.once("connection", (socket) => {
        pipeline(socket, atMost(MAX_BYTES), createWriteStream(target, { flags: "wx", mode: 0o600 })).then(done, fail);
      }),
    );
    received.catch(() => undefined); // waited for below, unless the migration fails first
    await qmp.execute("migrate-set-capabilities", {
      capabilities: ["x-ignore-shared", "events"].map((capability) => ({ capability, state: true })),
    });
    const ended = qmp.event(({ event, data }) => event === "MIGRATION" && isEnd((data as { status?: string }).status));
    await qmp.execute("migrate", { uri: `unix:${basename(path)}` });
    const { data } = (await Promise.race([ended, received.then(() => ended)])) as { data: { status: string } };
    if (data.status !== "completed") throw failure("INTERNAL", "The emulator could not save the machine's state");
    await received;
  } finally {
    server.close();
    address.release();
    await rm(join(dirname(path), SOCKET), { force: true });
  }
}

/** SECURITY: what an emulator that a guest has taken over sends does not fill the disk (G-10). */
function atMost(most: number): (source: AsyncIterable<Buffer>) => AsyncIterable<Buffer> {
  return async function* (source) {
    let bytes = 0;
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > most) throw failure("GUEST_PROTOCOL", "The emulator sent more than the state of a machine");
      yield chunk;
    }
  };
}

const isEnd = (status: string | undefined): boolean =>
  status === "completed" || status === "failed" || status === "cancelled";

/** Has an emulator that waits for a state load it from its descriptor; the machine runs when it was running. */
export async function loadState(qmp: Qmp, descriptor: number): Promise<void> {
  await qmp.execute("migrate-set-capabilities", {
    capabilities: ["x-ignore-shared", "events"].map((capability) => ({ capability, state: true })),
  });
  const ended = qmp.event(({ event, data }) => event === "MIGRATION" && isEnd((data as { status?: string }).status));
  await qmp.execute("migrate-incoming", { uri: `fd:${descriptor}` });
  const { data } = (await ended) as { data: { status: string } };
  // It ends then, and its last words say why.
  if (data.status !== "completed") throw failure("SANDBOX_LOST", "The emulator cannot load the frozen machine");
}
