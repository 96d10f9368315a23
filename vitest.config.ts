import { resolve } from "node:path";
import { defineConfig } from "vitest/config";

// Against hanging: on two cores, beside others, many of them take long.
const PATIENCE = { testTimeout: 120_000, hookTimeout: 180_000 };

/** Beside no other test: they fill the machine, time what it does, wait for a program that is patient for seconds only, or look at what all sandboxes share. */
const ALONE = [
  "test/e2e/{many,package,prune,real-claude-code,real-codex}.test.ts",
  "test/security/{bounded-daemon,limits,mcp-flood,shared-counts}.test.ts",
];

/** Waits most of the time for a sandbox, so that more of them go on than there are processors. Each has a home of its own. */
const BESIDE_OTHERS = {
  globalSetup: ["test/helpers/global-setup.ts"],
  maxWorkers: 4,
  sequence: { groupOrder: 1 },
  ...PATIENCE,
};

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/repo/**/*.test.ts"],
          // One process for many files: to load the modules anew for each took more than half of the time. So no test changes what the next one finds.
          isolate: false,
          maxWorkers: 3,
          ...PATIENCE,
        },
      },
      {
        test: {
          name: "parity",
          include: ["test/parity/**/*.test.ts"],
          ...BESIDE_OTHERS,
        },
      },
      {
        test: {
          name: "sandbox",
          include: ["test/{e2e,security,guest,model}/**/*.test.ts"],
          exclude: ["test/guest/emulated/**", ...ALONE],
          ...BESIDE_OTHERS,
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
          sequence: { groupOrder: 2 },
          ...PATIENCE,
        },
      },
    ],
  },
});
