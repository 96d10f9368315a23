import { DockerEngine } from "../helpers/docker-engine.ts";
import { describeParity } from "./describe-parity.ts";

let engine: DockerEngine;

describeParity({
  backend: "docker",
  environment: "debian:12",
  env: async () => {
    engine = await DockerEngine.start();
    return engine.env;
  },
  leftovers: () => engine.leftovers(),
  tearDown: () => engine[Symbol.asyncDispose](),
});
