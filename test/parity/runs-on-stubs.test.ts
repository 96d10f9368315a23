import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PARITY_SCENARIOS, ParityRun } from "../../src/parity/parity.ts";
import { Installation, eventually, processesNaming } from "../helpers/installation.ts";
import { makeSmallSystem } from "../helpers/small-system.ts";
import { SmolvmStandIn } from "../helpers/smolvm-stand-in.ts";
import { StubDockerEngine } from "../helpers/stub-docker-engine.ts";
import { StubEmulator } from "../helpers/stub-emulator.ts";

const IMAGE = "example/small:1";
const ENVIRONMENT = `docker:${IMAGE}`;

/**
 * The scenarios about runs without an engine's daemon and without a machine, in seconds. Each backend's own code runs: that of `container`, which needs neither,
 * and that of the others on a stub of what they call. Nothing is fetched: the environment is an image of the stub of an engine.
 */
describe("runs on stubs", () => {
  let engine: StubDockerEngine;
  let smolvm: SmolvmStandIn;
  let emulator: StubEmulator;
  let at: Installation;
  beforeAll(async () => {
    engine = await StubDockerEngine.start();
    smolvm = new SmolvmStandIn();
    emulator = await StubEmulator.start();
    const PATH = [emulator.programs, smolvm.env.PATH].join(delimiter);
    at = new Installation("st", { ...engine.env, ...smolvm.env, ...emulator.env, PATH });
    at.env["CLOCHE_CACHE"] = at.path("cache");
    mkdirSync(at.path("small"));
    makeSmallSystem(at.path("small"));
    await engine.addImage(IMAGE, at.path("small"));
  });
  afterAll(async () => {
    await at[Symbol.asyncDispose]();
    try {
      await eventually(async () => expect(await leftovers(), "left in the engine, or of machines").toEqual([]));
    } finally {
      await engine[Symbol.asyncDispose]();
      await smolvm.remove();
      await emulator[Symbol.asyncDispose]();
    }
  });
  const leftovers = async () => [
    ...processesNaming(join(at.home, "workspaces")),
    ...engine.leftovers(),
    ...(await smolvm.machines()).map(({ name }) => `machine ${name}`),
    ...emulator.pids.filter((pid) => !isSpare(at.home, pid)).map((pid) => `emulator ${pid}`),
  ];

  describe.each(["container", "docker", "vm", "smolmachines"])("%s", (backend) => {
    let run: ParityRun;
    beforeAll(async () => {
      const folder = at.path(`files-${backend}`);
      mkdirSync(folder);
      const other = { backend: "container", environment: "host" };
      run = await ParityRun.open({ backend, client: at.sdk, environment: ENVIRONMENT, folder, other, leftovers });
    });
    afterAll(() => run[Symbol.asyncDispose]());

    const chosen = PARITY_SCENARIOS.filter(({ topic }) => ["runs", "supervise"].includes(topic));
    it.each(chosen)(`${backend}: $title`, async (scenario) => {
      await run.run(scenario);
    });
  });
});

/** Whether it is the emulator of a machine that waits, and so belongs to no sandbox. */
function isSpare(home: string, pid: number): boolean {
  const folder = join(home, "spare-machines");
  return (existsSync(folder) ? readdirSync(folder) : []).some((name) => {
    const record = join(folder, name, "machine/wall.pid");
    return existsSync(record) && readFileSync(record, "latin1").startsWith(`${pid} `);
  });
}
