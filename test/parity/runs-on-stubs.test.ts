import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { PARITY_SCENARIOS, ParityRun } from "../../src/parity/parity.ts";
import { Cloche } from "../../src/sdk/cloche.ts";
import { Installation, PROJECT, processesNaming } from "../helpers/installation.ts";

/** What a run is, above the wall: the same scenarios as on the real backends, with one plain wall in the place of each. */
describe.each(["container", "docker", "vm", "smolmachines"])("runs on a stub of %s", (backend) => {
  let at: Installation;
  let client: Cloche;
  let run: ParityRun;
  beforeAll(async () => {
    at = new Installation("st");
    client = new Cloche({
      home: at.home,
      env: at.env,
      daemonProgram: join(PROJECT, "test/fixtures/stub-backends-daemon.mjs"),
    });
    mkdirSync(at.path("files"));
    const other = { backend: "container", environment: "host" };
    const leftovers = () => Promise.resolve(processesNaming(join(at.home, "workspaces")));
    run = await ParityRun.open({ backend, client, environment: "host", folder: at.path("files"), other, leftovers });
  });
  afterAll(async () => {
    await run[Symbol.asyncDispose]();
    await client.stopDaemon();
    await client.close();
    await at[Symbol.asyncDispose]();
  });
  it.each(PARITY_SCENARIOS.filter(({ topic }) => ["runs", "supervise"].includes(topic)))("$title", async (scenario) => {
    await run.run(scenario);
  });
});
