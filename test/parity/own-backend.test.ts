import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PARITY_SCENARIOS, ParityRun } from "../../src/parity/parity.ts";
import { Cloche } from "../../src/sdk/cloche.ts";
import { PROJECT, processesNaming, withInstallation } from "../helpers/installation.ts";

it("a backend of somebody else is served by a daemon of its own, and the exported suite runs on it", async () => {
  await withInstallation(async (at) => {
    const daemonProgram = join(PROJECT, "test/fixtures/own-backend-daemon.mjs");
    const client = new Cloche({ home: at.home, env: at.env, daemonProgram });
    mkdirSync(at.path("files"));
    const run = await ParityRun.open({
      backend: "own",
      client,
      environment: "debian:12",
      folder: at.path("files"),
      other: { backend: "container", environment: "debian:12" },
      leftovers: () => Promise.resolve(processesNaming(join(at.home, "workspaces"))),
    });
    const topics = ["what is declared", "moving", "changes"];
    const outcomes: string[] = [];
    for (const scenario of PARITY_SCENARIOS.filter(({ topic }) => topics.includes(topic)))
      outcomes.push(await run.run(scenario));
    expect(outcomes.filter((outcome) => outcome === "refuses").length).toBeGreaterThanOrEqual(2);
    expect(outcomes.filter((outcome) => outcome === "works").length).toBeGreaterThanOrEqual(10);
    await run[Symbol.asyncDispose]();
    await client.stopDaemon();
    await client.close();
  });
}, 120_000);

it("a backend that behaves otherwise is found, and one that is not there is no reason to leave it out", async () => {
  await withInstallation(async (at) => {
    mkdirSync(at.path("files"));
    const target = {
      backend: "container",
      client: at.sdk,
      environment: "debian:12",
      folder: at.path("files"),
      other: { backend: "container", environment: "debian:12" },
      leftovers: () => Promise.resolve([]),
    };
    await expect(ParityRun.open({ ...target, backend: "no-such" })).rejects.toThrow('there is no backend "no-such"');
    const run = await ParityRun.open(target);
    const [scenario] = PARITY_SCENARIOS;
    await expect(
      run.run({
        ...scenario!,
        run: async (context) => {
          await context.out(await context.create(), "exit 3");
        },
      }),
    ).rejects.toThrow("exit 3");
    // What it declares to be able to do, and does not refuse when it is asked as if it could not.
    const asked = { capability: "live_snapshots" as const, ask: () => Promise.resolve("done") };
    await expect(run.run({ ...scenario!, needs: asked })).rejects.toThrow("expected a failure");
    await run[Symbol.asyncDispose]();
  });
}, 120_000);

it("the suite and the kit are exported by the package", async () => {
  const load = async (name: string) => (await import(name)) as Record<string, unknown>;
  expect(Object.keys(await load("cloche/parity")).sort()).toEqual(["PARITY_SCENARIOS", "ParityRun"]);
  expect(Object.keys(await load("cloche/backend")).sort()).toEqual([
    ...["GuestClient", "GuestFiles", "copyUnmapped", "guestProgram", "packLayer", "runDaemonWith", "unpackLayer"],
  ]);
});
