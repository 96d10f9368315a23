import { afterAll, beforeAll, describe, it } from "vitest";
import { DockerEngine } from "../helpers/docker-engine.ts";
import { Installation } from "../helpers/installation.ts";
import { type Wall } from "./player.ts";
import { playSequences } from "./play-sequences.ts";

/** As many steps as wanted, of one's own seed, on one backend: `make torture STEPS=1000 SEED=7 BACKEND=vm`. */
const { STEPS, SEED, BACKEND } = process.env;
const seed = Number(SEED || Date.now() % 2 ** 31);

const CONTAINER: Wall = { backend: "container", environment: "host" };
/** With the steps of an ordinary run: what is slow gets fewer. */
const TARGETS: readonly (Wall & { readonly steps: number })[] = [
  { ...CONTAINER, steps: 140 },
  { backend: "docker", environment: "debian:12", steps: 40 },
  { backend: "vm", environment: "debian:12", steps: 30 },
];
const SLOWEST_STEP_MS = 30_000;
const START_MS = 300_000;

const chosen = TARGETS.filter(({ backend }) => !BACKEND || BACKEND.split(",").includes(backend));
describe.each(chosen)("a workspace of $backend", ({ backend, environment, steps }) => {
  let engine: DockerEngine | undefined;
  let at: Installation;
  beforeAll(async () => {
    if (backend === "docker") engine = await DockerEngine.start();
    at = new Installation("m", engine?.env);
  }, START_MS);
  afterAll(async () => {
    await at[Symbol.asyncDispose]();
    await engine?.[Symbol.asyncDispose]();
  }, START_MS);

  const count = Number(STEPS || steps);
  it(
    `is what a plain folder is after each of ${count} random steps, seed ${seed}`,
    async () => {
      const own: Wall = { backend, environment };
      const walls = backend === "container" ? [own] : [own, CONTAINER];
      await playSequences(at, { walls, seed, steps: count });
    },
    START_MS + count * SLOWEST_STEP_MS,
  );
});
