import { resolve } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/repo/**/*.test.ts"],
          // Many start processes, or try thousands of inputs: against hanging, on a machine that is busy.
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "sandbox",
          include: ["test/{e2e,security,guest,model}/**/*.test.ts"],
          exclude: ["test/guest/emulated/**"],
          globalSetup: ["test/helpers/global-setup.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
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
          globalSetup: ["test/helpers/emulated-setup.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "parity",
          include: ["test/parity/**/*.test.ts"],
          globalSetup: ["test/helpers/global-setup.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          // A backend waits most of the time: two side by side, each with a home of its own, and beside no other test.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
