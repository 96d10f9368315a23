import { setMaxListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { failure } from "../model/error-codes.ts";
import { FairQueue } from "./fair-queue.ts";

const never = new AbortController().signal;
setMaxListeners(0, never);
const refuse = (key: string) => failure("WORKSPACE_BUSY", key);
const turn = () => new Promise((done) => setImmediate(done));

/** Asks for everything at once, and tells in which order it got its turn. */
async function served(queue: FairQueue, keys: readonly string[]): Promise<string[]> {
  const order: string[] = [];
  await Promise.all(
    keys.map(async (key) => {
      const end = await queue.enter(key, never);
      order.push(key);
      await turn();
      end();
      end();
    }),
  );
  return order;
}

describe("FairQueue (G-25)", () => {
  it("gives each key its turn, however much another has to do", async () => {
    const queue = new FairQueue({ atOnce: 1, perKey: 1, waiting: 100, waitingPerKey: 100, refuse });
    expect(await served(queue, ["a", "a", "a", "a", "b", "c", "b"])).toEqual(["a", "a", "b", "c", "a", "b", "a"]);
  });

  it("has no more at once than it says, of all and of one key", async () => {
    const queue = new FairQueue({ atOnce: 3, perKey: 2, waiting: 100, waitingPerKey: 100, refuse });
    const running = new Map<string, number>();
    let most = 0;
    await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const key = at % 3 === 0 ? "b" : "a";
        const end = await queue.enter(key, never);
        running.set(key, (running.get(key) ?? 0) + 1);
        expect(running.get(key)).toBeLessThanOrEqual(2);
        const all = [...running.values()].reduce((sum, one) => sum + one, 0);
        most = Math.max(most, all);
        await turn();
        running.set(key, (running.get(key) ?? 0) - 1);
        end();
      }),
    );
    expect(most).toBe(3);
  });

  it("refuses who comes when too many wait, of one key and of all", async () => {
    const queue = new FairQueue({ atOnce: 1, perKey: 1, waiting: 3, waitingPerKey: 2, refuse });
    const first = queue.enter("a", never) as () => void;
    const waiting = [queue.enter("a", never), queue.enter("a", never)];
    expect(() => queue.enter("a", never)).toThrow("a");
    waiting.push(queue.enter("b", never));
    expect(() => queue.enter("c", never)).toThrow("c");
    first();
    await Promise.all(waiting.map(async (one) => (await one)()));
    expect(queue.enter("c", never)).toBeTypeOf("function");
  });

  it("lets go of who does not wait any longer", async () => {
    const queue = new FairQueue({ atOnce: 1, perKey: 1, waiting: 1, waitingPerKey: 1, refuse });
    const first = queue.enter("a", never) as () => void;
    const gone = new AbortController();
    const waiting = queue.enter("b", gone.signal) as Promise<() => void>;
    gone.abort(new Error("left"));
    await expect(waiting).rejects.toThrow("left");
    const other = queue.enter("b", never);
    first();
    (await other)();
    expect(queue.enter("a", never)).toBeTypeOf("function");
  });
});
