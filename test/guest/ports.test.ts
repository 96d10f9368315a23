import { once } from "node:events";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeFrame } from "../../src/guest/codec.ts";
import type { GuestClient } from "../../src/guest/client.ts";
import { HOST, MAGIC } from "../../src/guest/frame-types.ts";
import { pack } from "./fake-guest.ts";
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

/** A command of the sandbox, in Perl because every Debian has it. */
const perl = (script: string) => client.spawn(command(["perl", "-MIO::Socket::INET", "-e", script]));

describe("ports of the sandbox", () => {
  it("are reached from the host, with both ends ending on their own", async () => {
    const process = perl(`
      $| = 1;
      my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1", LocalPort => 8181, ReuseAddr => 1) or die;
      print "ready\\n";
      my $c = $s->accept; local $/; my $all = <$c>; print $c "got " . length($all); close $c;`);
    const reader = process.output();
    await reader.next();
    const socket = await client.connectPort(8181);
    socket.end(Buffer.alloc(3_000_000));
    expect(await text(socket)).toBe("got 3000000");
    process.discardOutput();
    for await (const rest of reader) expect(rest).toBeUndefined();
  });

  it("say so when nothing listens", async () => {
    await expect(client.connectPort(1)).rejects.toMatchObject({ code: "PORT_FAILED" });
  });
});

const CONDUIT = { "in frames": () => undefined, "with a conduit for each connection": () => () => guest.socket() };

describe.each(Object.entries(CONDUIT))("a door, %s,", (_how, conduit) => {
  it("brings connections of the sandbox to the host", async () => {
    const serve = (socket: Duplex) => {
      // not by iteration, which would end the socket's other half too
      let bytes = 0;
      socket.on("data", (chunk: Buffer) => (bytes += chunk.length));
      socket.on("end", () => socket.end(`${bytes} bytes, thank you`));
    };
    const door = await client.listen(9099, serve, conduit());
    const script = (port: number) => `
      my $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => ${port}) or do { print "refused"; exit };
      print $c "x" x 1000000; shutdown($c, 1); local $/; print scalar <$c>;`;
    const many = await Promise.all([1, 2, 3].map(() => collect(perl(script(9099)))));
    expect(many.map(({ stdout }) => stdout)).toEqual(Array(3).fill("1000000 bytes, thank you"));
    await expect(client.listen(9099, serve)).rejects.toMatchObject({ code: "PORT_FAILED" });
    await door[Symbol.asyncDispose]();
    await client.ping();
    expect((await collect(perl(script(9099)))).stdout).toBe("refused");
  });

  it("lets a sandbox wait whose connection nobody reads", async () => {
    const sockets: Duplex[] = [];
    const door = await client.listen(9100, (socket) => void sockets.push(socket), conduit());
    const process = perl(`
      $| = 1; my $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => 9100) or die;
      print $c "x" x 50000000; print "sent";`);
    const result = collect(process);
    while (sockets.length === 0) await client.ping();
    for (let times = 0; times < 100; times++) await client.ping();
    expect(sockets[0]!.readableLength).toBeLessThan(300_000);
    expect((await text(sockets[0]!)).length).toBe(50_000_000);
    expect((await result).stdout).toBe("sent");
    sockets[0]!.end();
    await door[Symbol.asyncDispose]();
  });

  it("on all loopback addresses tells which one was connected to", async () => {
    const seen: string[] = [];
    const answer = (socket: Duplex, address: string) => {
      seen.push(address);
      socket.end(address);
    };
    const door = await client.listenOnAddresses(9101, answer, conduit());
    const ask = (address: string) =>
      collect(perl(`my $c = IO::Socket::INET->new(PeerAddr => "${address}", PeerPort => 9101) or die; print <$c>;`));
    for (const address of ["127.64.3.4", "127.0.0.1", "127.127.255.254"])
      expect((await ask(address)).stdout).toBe(address);
    expect(seen).toHaveLength(3);
    await door[Symbol.asyncDispose]();
  });
});

describe("a conduit", () => {
  const frame = (stream: number) => encodeFrame(HOST.TAKE, 0, pack(["u32", MAGIC], ["u16", 1], ["u32", stream]));
  /** What comes back of such a connection. */
  async function answerTo(bytes: Buffer): Promise<string> {
    const socket = await guest.socket();
    socket.write(bytes);
    return await text(socket);
  }

  it("is closed where there is nothing to take, and nothing else is", async () => {
    const seen: Duplex[] = [];
    const door = await client.listen(9103, (socket) => void seen.push(socket));
    const caller = collect(
      perl(
        `my $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => 9103) or die; print $c "said"; print <$c>;`,
      ),
    );
    while (seen.length === 0) await client.ping();
    await once(seen[0]!, "readable");
    // Streams that never were, of a host's own number, and one of which bytes have come in frames already.
    const taken = Array.from({ length: 64 }, (_, at) => 0x8000_0001 + at);
    for (const stream of [0, 1, 5, 0xffff_ffff, ...taken]) expect(await answerTo(frame(stream))).toBe("");
    expect(await answerTo(encodeFrame(HOST.TAKE, 0, Buffer.alloc(10)))).toBe("");
    seen[0]!.end("still here");
    expect((await caller).stdout).toBe("still here");
    await door[Symbol.asyncDispose]();
  });
});

describe("a door", () => {
  it("for datagrams brings each to the host, and its answer back to who sent it", async () => {
    const door = await client.listenForDatagrams(9102, (data, answer) =>
      answer(Buffer.from(data.toString().toUpperCase())),
    );
    const ask = (word: string) =>
      collect(
        perl(`my $c = IO::Socket::INET->new(Proto => "udp", PeerAddr => "127.0.0.1", PeerPort => 9102) or die;
          $c->send("x" x 5000); $c->send("${word}"); $c->recv(my $back, 100); print $back;`),
      );
    const answers = await Promise.all(["one", "two", "three"].map(ask));
    expect(answers.map(({ stdout }) => stdout)).toEqual(["ONE", "TWO", "THREE"]);
    await expect(client.listenForDatagrams(9102, () => undefined)).rejects.toMatchObject({ code: "PORT_FAILED" });
    await door[Symbol.asyncDispose]();
  });
});
