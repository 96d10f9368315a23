import { resolve } from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/helpers/longest-first.ts";

// Against hanging: on two cores, beside others, many of them take long. What fails is tried once more, and the last lines of the log name it: a test that needs that
// has a fault of its own, or shows a race.
const PATIENCE = { testTimeout: 120_000, hookTimeout: 180_000, retry: 1, expect: { poll: { timeout: 30_000 } } };

/** Beside no other test: they fill the machine, time what it does, wait for a program that is patient for seconds only, or look at what all sandboxes share. */
const ALONE = [
  "test/e2e/{many,package,prune,real-claude-code,real-codex}.test.ts",
  "test/security/{bounded-daemon,homeless,limits,mcp-flood,shared-counts}.test.ts",
];

/**
 * Of one group, so that no processor waits for the last file of a project. Most files wait for a sandbox most of the time, so more of them go on than there are
 * processors; each has a home of its own. One process runs many files, because to load the modules anew for each takes as long as many a file does: so no test
 * changes what the next one finds.
 */
const BESIDE_OTHERS = { maxWorkers: 5, isolate: false, ...PATIENCE };
const WITH_SANDBOXES = { globalSetup: ["test/helpers/global-setup.ts"], ...BESIDE_OTHERS };

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/repo/**/*.test.ts"],
          ...BESIDE_OTHERS,
        },
      },
      {
        test: {
          name: "parity",
          include: ["test/parity/**/*.test.ts"],
          ...WITH_SANDBOXES,
        },
      },
      {
        test: {
          name: "sandbox",
          include: ["test/{e2e,security,guest,model}/**/*.test.ts"],
          exclude: ["test/guest/emulated/**", ...ALONE],
          ...WITH_SANDBOXES,
        },
      },
      {
        test: {
          // The guest program for arm64, run by an emulator. It filters no system calls, makes no namespaces and takes in no orphans; so walls, keepers and
          // what a command leaves behind are not here. Nor is what takes long and says nothing about a processor.
          name: "arm64",
          include: [
            "test/guest/{adoption,changes,commands,files,fuzz,ports,tree-in,watch}.test.ts",
            "test/guest/emulated/*.test.ts",
          ],
          env: { CLOCHE_TEST_GUEST: resolve("test/guest/emulated/arm64-guest") },
          ...BESIDE_OTHERS,
          globalSetup: ["test/helpers/emulated-setup.ts"],
        },
      },
      {
        test: {
          name: "alone",
          include: ALONE,
          globalSetup: ["test/helpers/global-setup.ts"],
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          ...PATIENCE,
        },
      },
    ],
  },
});
