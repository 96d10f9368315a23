import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GuestClient } from "../../src/guest/client.ts";
import { eventually } from "../helpers/installation.ts";
import { collect, command, RealGuest } from "./real-guest.ts";

const BORROWER = fileURLToPath(new URL("../fixtures/borrow-door.py", import.meta.url));

let guest: RealGuest;
let client: GuestClient;
beforeAll(async () => {
  guest = await RealGuest.start();
  client = await guest.client();
});
afterAll(async () => {
  await guest[Symbol.asyncDispose]();
});

/** A program of the host that was given the socket on which a door listens. */
class Borrower implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(port: number) {
    const child = spawn("python3", [BORROWER, join(guest.directory, "socket"), String(port)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  async says(): Promise<string> {
    return String((await this.#lines.next()).value);
  }

  serveOne(): void {
    this.#child.stdin?.write("one\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }
}

/** A command of the sandbox that says something at a port, and what it heard. */
async function say(port: number, word: string): Promise<string> {
  const script = `use IO::Socket::INET; my $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => ${port}) or do { print "refused"; exit };
    print $c "${word}"; shutdown($c, 1); local $/; print scalar <$c>;`;
  return (await collect(client.spawn(command(["perl", "-e", script])))).stdout;
}

const byTheHost = (socket: Duplex) => {
  socket.once("data", (bytes: Buffer) => socket.end(`${String(bytes)}, said to the host`));
};

describe("a door that is lent", () => {
  it("lets connections in for who has borrowed it, and comes back when that one is gone", async () => {
    await using door = await client.listen(9201, byTheHost);
    expect(await say(9201, "before")).toBe("before, said to the host");
    {
      await using borrower = new Borrower(9201);
      expect(await borrower.says()).toBe("lent");
      for (const word of ["one", "two"]) {
        borrower.serveOne();
        expect(await say(9201, word)).toBe(`${word}, said to the borrower`);
        expect(await borrower.says()).toBe("served");
      }
    }
    expect(await say(9201, "after")).toBe("after, said to the host");
    await using again = new Borrower(9201);
    expect(await again.says()).toBe("lent");
    expect(door).toBeDefined();
  });

  it("is lent to one at a time, and only where connections come", async () => {
    await using door = await client.listen(9202, byTheHost);
    await using questions = await client.listenForDatagrams(9203, (data, answer) => answer(data));
    await using first = new Borrower(9202);
    expect(await first.says()).toBe("lent");
    for (const port of [9202, 9203, 9204]) {
      await using other = new Borrower(port);
      expect(await other.says()).toBe("refused");
    }
    first.serveOne();
    expect(await say(9202, "still")).toBe("still, said to the borrower");
    expect([door, questions]).toHaveLength(2);
  });

  it("is closed by who has opened it: nobody keeps the port", async () => {
    const door = await client.listen(9205, byTheHost);
    await using borrower = new Borrower(9205);
    expect(await borrower.says()).toBe("lent");
    await door[Symbol.asyncDispose]();
    expect(await say(9205, "nobody")).toBe("refused");
    await using next = await client.listen(9205, byTheHost);
    expect(await say(9205, "somebody")).toBe("somebody, said to the host");
    expect(next).toBeDefined();
  });

  it("is closed with the connection on which it was opened", async () => {
    const other = await guest.client();
    await other.listen(9206, byTheHost);
    await using borrower = new Borrower(9206);
    expect(await borrower.says()).toBe("lent");
    other.close();
    await eventually(async () => expect(await say(9206, "nobody")).toBe("refused"));
  });
});
