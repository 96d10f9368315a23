import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { Connections } from "./connections.ts";

class Peer extends EventEmitter {
  writableLength = 0;
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
    setImmediate(() => this.emit("close"));
  }
}

const peers = (count: number) => Array.from({ length: count }, () => new Peer());
const left = (all: readonly Peer[]) => all.flatMap(({ destroyed }, at) => (destroyed ? [] : [at]));

describe("connections of clients (G-25)", () => {
  it("go when there are too many: the longest silent one that has no call under way, else the new one", () => {
    const connections = new Connections<Peer>({ connections: 3 });
    const all = peers(7);
    const [first, second, third, fourth, fifth, sixth, seventh] = all as [Peer, Peer, Peer, Peer, Peer, Peer, Peer];
    for (const one of [first, second, third]) connections.add(one);
    const done = connections.begin(first);
    connections.add(fourth);
    expect(left([first, second, third, fourth])).toEqual([0, 2, 3]);
    done();
    connections.add(fifth);
    expect(left([first, second, third, fourth, fifth])).toEqual([0, 3, 4]);
    for (const one of [first, fourth, fifth]) connections.begin(one);
    connections.add(sixth);
    connections.add(seventh);
    expect(left(all)).toEqual([0, 3, 4]);
    expect(connections.count).toBe(3);
  });

  it("go when requests that do not end are too much together: the one that was silent for the longest time", () => {
    const connections = new Connections<Peer>({ incomingBytes: 100 });
    const all = peers(3);
    for (const one of all) connections.add(one);
    connections.received(all[0]!, 40);
    connections.received(all[1]!, 40);
    connections.received(all[0]!, 10);
    connections.received(all[2]!, 20);
    expect(left(all)).toEqual([0, 2]);
    connections.complete(all[0]!);
    connections.received(all[2]!, 80);
    expect(left(all)).toEqual([0, 2]);
    connections.received(all[2]!, 1);
    expect(left(all), "one that is too much alone").toEqual([0]);
  });

  it("go when they take nothing of their answers, while others need the room", async () => {
    const connections = new Connections<Peer>({ outgoingBytes: 100, stallMs: 100 });
    const all = peers(4);
    for (const one of all) connections.add(one);
    for (const one of all.slice(0, 3)) one.writableLength = 45;
    expect(connections.hasRoom).toBe(false);
    const taking = setInterval(() => (all[1]!.writableLength -= 1), 30);
    await Promise.all([connections.room(), connections.room()]);
    clearInterval(taking);
    expect(left(all), "who takes some of it, and who has no answer, stays").toEqual([1, 3]);
    expect(connections.hasRoom).toBe(true);
  });
});
