import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { KeptOrder } from "./kept-order.ts";

let folder: string;
let files: number[];
const order = (revision: number) => ({
  revision,
  guest_socket: `/s${revision}\n`,
  doors: [],
  egress: null,
  git: null,
  authority: null,
  supervise: { asks: [], grants: [] },
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-order-"));
  files = ["a", "b"].map((name) => openSync(join(folder, name), "w+"));
});

afterEach(() => {
  for (const file of files) closeSync(file);
  rmSync(folder, { recursive: true });
});

it("gives the next gate the last order, and nothing before the first", () => {
  expect(new KeptOrder(files).read()).toBeUndefined();
  const kept = new KeptOrder(files);
  for (const revision of [1, 2, 3]) {
    kept.write(order(revision));
    expect(new KeptOrder(files).read()).toEqual(order(revision));
  }
});

it("has the order before when the gate was killed while it wrote one", () => {
  const first = new KeptOrder(files);
  first.write(order(1));
  const second = new KeptOrder(files);
  second.read();
  second.write(order(2));
  for (const file of files) {
    // One of the two holds the newer: it is as if cut off, whichever it is.
    if (JSON.stringify(new KeptOrder([file]).read()) === JSON.stringify(order(2))) ftruncateSync(file, 70);
  }
  const third = new KeptOrder(files);
  expect(third.read()).toEqual(order(1));
  third.write(order(3));
  expect(new KeptOrder(files).read()).toEqual(order(3));
});

it("keeps what was written last under one revision", () => {
  const kept = new KeptOrder(files);
  kept.write(order(1));
  const grant = { kind: "push-allow", key: "k", proposal_id: "p-1", valid_until: null } as const;
  const more = { ...order(1), supervise: { asks: [], grants: [grant] } };
  kept.write(more);
  expect(new KeptOrder(files).read()).toEqual(more);
});
