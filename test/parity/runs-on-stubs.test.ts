import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PARITY_SCENARIOS, ParityRun } from "../../src/parity/parity.ts";
import { Cloche } from "../../src/sdk/cloche.ts";
import { Installation, PROJECT, processesNaming } from "../helpers/installation.ts";
import { makeSmallSystem } from "../helpers/small-system.ts";
import { SmolvmStandIn } from "../helpers/smolvm-stand-in.ts";
import { StubDockerEngine } from "../helpers/stub-docker-engine.ts";

const IMAGE = "example/small:1";
const ENVIRONMENT = `docker:${IMAGE}`;

/**
 * The scenarios about runs without an engine's daemon and without a machine, in seconds. Each backend's own code runs, on a stub of what it calls. Nothing is
 * fetched: the environment is an image of the stub of an engine.
 *
 * `vm` alone is a plain wall, which declares what that backend does; its code runs on the real emulator, in `vm.test.ts`. An emulator is started without any
 * right, in a root of its own, and gets disks as images. A stub of it could not mount them, nor make users of a sandbox: it would be a second machine.
 */
describe("runs on stubs", () => {
  let engine: StubDockerEngine;
  let smolvm: SmolvmStandIn;
  let at: Installation;
  let client: Cloche;
  beforeAll(async () => {
    engine = await StubDockerEngine.start();
    smolvm = new SmolvmStandIn();
    at = new Installation("st", { ...engine.env, ...smolvm.env });
    at.env["CLOCHE_CACHE"] = at.path("cache");
    mkdirSync(at.path("small"));
    makeSmallSystem(at.path("small"));
    await engine.addImage(IMAGE, at.path("small"));
    const daemonProgram = join(PROJECT, "test/fixtures/no-machines-daemon.mjs");
    client = new Cloche({ home: at.home, env: at.env, daemonProgram });
  });
  afterAll(async () => {
    await client.stopDaemon();
    await client.close();
    await at[Symbol.asyncDispose]();
    const left = await leftovers();
    await engine[Symbol.asyncDispose]();
    await smolvm.remove();
    expect(left, "left in the engine, or of machines").toEqual([]);
  });
  const leftovers = async () => [
    ...processesNaming(join(at.home, "workspaces")),
    ...engine.leftovers(),
    ...(await smolvm.machines()).map(({ name }) => `machine ${name}`),
  ];

  describe.each(["container", "docker", "vm", "smolmachines"])("%s", (backend) => {
    let run: ParityRun;
    beforeAll(async () => {
      const folder = at.path(`files-${backend}`);
      mkdirSync(folder);
      const other = { backend: "container", environment: "host" };
      run = await ParityRun.open({ backend, client, environment: ENVIRONMENT, folder, other, leftovers });
    });
    afterAll(() => run[Symbol.asyncDispose]());

    const chosen = PARITY_SCENARIOS.filter(({ topic }) => ["runs", "supervise"].includes(topic));
    it.each(chosen)(`${backend}: $title`, async (scenario) => {
      await run.run(scenario);
    });
  });
});
