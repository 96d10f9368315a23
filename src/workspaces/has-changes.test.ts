import { expect, it } from "vitest";
import { snapshot } from "../../test/helpers/stored-records.ts";
import type { Store } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import { hasChanges } from "./has-changes.ts";
import type { LiveWorkspace } from "./live-workspace.ts";

const store = (snapshots: readonly string[] = []) =>
  ({ listSnapshots: () => snapshots.map((name) => snapshot(name)) }) as unknown as Store;
const stored = { workspaceId: "ws-a", layers: [], unchanged: false };
const sandbox = (list: () => Promise<unknown[]>) =>
  ({ files: () => Promise.resolve({ list }) }) as unknown as LiveWorkspace;

it("looks at the top of what the sandbox has written, and at nothing else where there is a sandbox", async () => {
  expect(
    await hasChanges(
      { store: store() },
      stored,
      sandbox(() => Promise.resolve([])),
    ),
  ).toBe(false);
  expect(
    await hasChanges(
      { store: store() },
      stored,
      sandbox(() => Promise.resolve([{}])),
    ),
  ).toBe(true);
});

it("takes a snapshot and what it stands on for changes", async () => {
  const empty = sandbox(() => Promise.resolve([]));
  expect(await hasChanges({ store: store(["one"]) }, stored, empty)).toBe(true);
  expect(await hasChanges({ store: store() }, { ...stored, layers: ["ly-1"] }, empty)).toBe(true);
});

it("says so where it cannot tell: a guest that fails, or a sandbox that ended by itself", async () => {
  const fails = sandbox(() => Promise.reject(failure("TOO_MANY_ENTRIES", "There are more")));
  expect(await hasChanges({ store: store() }, stored, fails)).toBe(true);
  expect(await hasChanges({ store: store() }, stored, undefined)).toBe(true);
  expect(await hasChanges({ store: store() }, { ...stored, unchanged: true }, undefined)).toBe(false);
});
