import { expect, it } from "vitest";
import { createMemoryIo } from "../../../test/helpers/memory-io.ts";
import type { CleanedUp } from "../../model/run.ts";
import { runCli } from "../run-cli.ts";

const PLAN: CleanedUp = {
  removed: [
    {
      kind: "run",
      identity: "reviewer-k3x9a",
      workspace_id: "ws-ghifjq3tu3",
      backend: "container",
      reason: "it ended with exit code 130, and can be resumed",
    },
  ],
  kept: [],
};

const cleanup = async (args: string[], tty: boolean) => {
  const io = createMemoryIo({ tty, client: { cleanUp: () => Promise.resolve(PLAN) } });
  expect(await runCli(["cleanup", ...args], io)).toBe(0);
  return io.stdout.text;
};

it("says why something would go, and of what is gone only that it is", async () => {
  const name = "run reviewer-k3x9a (ws-ghifjq3tu3 on container)";
  expect(await cleanup(["--all", "--dry-run"], false)).toBe(
    `Would remove ${name}: it ended with exit code 130, and can be resumed\n`,
  );
  expect(await cleanup(["--all", "--yes"], false)).toBe(`Removed ${name}\n`);
});

it("breaks lines between words on a terminal", async () => {
  expect((await cleanup(["--all", "--dry-run"], true)).split("\n")).toEqual([
    "Would remove run reviewer-k3x9a (ws-ghifjq3tu3 on container): it ended with",
    "    exit code 130, and can be resumed",
    "",
  ]);
});
