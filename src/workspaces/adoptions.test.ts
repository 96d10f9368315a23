import { expect, it } from "vitest";
import { Adoptions } from "./adoptions.ts";
import type { LiveWorkspace } from "./live-workspace.ts";

const ID = "ws-0000000001";

function setUp() {
  const adopted: LiveWorkspace[] = [];
  const released: string[] = [];
  const live = (name: string) =>
    ({ workspaceId: ID, name, release: () => Promise.resolve(void released.push(name)) }) as unknown as LiveWorkspace;
  return { adopted, released, live, adoptions: new Adoptions((one) => void adopted.push(one)) };
}

it("one that answers late is taken up then, and whoever waited goes on", async () => {
  const { adopted, live, adoptions } = setUp();
  let answer: (one: LiveWorkspace) => void = () => undefined;
  adoptions.begin(ID, () => new Promise((done) => (answer = done)));
  await expect(adoptions.settled(ID, 10)).rejects.toMatchObject({ code: "SANDBOX_LOST" });
  expect(adoptions.has(ID)).toBe(true);
  const waiting = adoptions.settled(ID);
  answer(live("late"));
  await waiting;
  expect(adopted).toHaveLength(1);
  expect(adoptions.size).toBe(0);
});

it("one that failed is tried again by the next who asks", async () => {
  const { adopted, live, adoptions } = setUp();
  let count = 0;
  adoptions.begin(ID, () => (++count === 1 ? Promise.reject(new Error("broken")) : Promise.resolve(live("second"))));
  await expect(adoptions.settled(ID)).rejects.toThrow("broken");
  await adoptions.settled(ID);
  expect([count, adopted.length]).toEqual([2, 1]);
});

it("one that answers after its workspace was reset or deleted is let go of", async () => {
  const { adopted, released, live, adoptions } = setUp();
  let answer: (one: LiveWorkspace) => void = () => undefined;
  adoptions.begin(ID, () => new Promise((done) => (answer = done)));
  const waiting = adoptions.settled(ID);
  adoptions.forget(ID);
  answer(live("old"));
  await waiting;
  expect([adopted, released]).toEqual([[], ["old"]]);
});
