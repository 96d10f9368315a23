import { DockerEngine, type EngineInfo } from "../../docker-engine/engine.ts";
import { isRefusal, refused } from "../../docker-engine/engine-failure.ts";
import { requireRootfulEngine, requireSameHost } from "./engine-check.ts";

/** An engine that can be used, as it was when it was asked. */
export interface UsableEngine {
  readonly engine: DockerEngine;
  readonly info: EngineInfo;
}

/** Engines that were found to be usable, by address: asked once while they answer. */
export class UsableEngines {
  readonly #env: NodeJS.ProcessEnv;
  readonly #onFound: (engine: DockerEngine) => void;
  readonly #found = new Map<string, Promise<UsableEngine>>();

  /** `onFound` is told of each engine that answers for the first time, or again. */
  constructor(env: NodeJS.ProcessEnv, onFound: (engine: DockerEngine) => void) {
    this.#env = env;
    this.#onFound = onFound;
  }

  /** The engine that the user's configuration names now, or the one at a recorded address. Throws BACKEND_UNAVAILABLE. */
  async get(address: string | undefined, signal: AbortSignal | undefined): Promise<UsableEngine> {
    const engine = address === undefined ? DockerEngine.current(this.#env) : DockerEngine.at(address, this.#env);
    const key = engine.endpoint.address;
    const known = this.#found.get(key);
    if (known) return await known;
    const usable = this.#check(engine, signal);
    this.#found.set(key, usable);
    usable.catch(() => this.#found.delete(key));
    return await usable;
  }

  /** It has gone away, or is to be asked anew. */
  forget({ endpoint }: DockerEngine): void {
    this.#found.delete(endpoint.address);
  }

  forgetAll(): void {
    this.#found.clear();
  }

  async #check(engine: DockerEngine, signal: AbortSignal | undefined): Promise<UsableEngine> {
    try {
      const info = await engine.info(signal);
      requireSameHost(engine, info);
      requireRootfulEngine(engine, info);
      this.#onFound(engine);
      return { engine, info };
    } catch (error) {
      throw isRefusal(error) ? refused("Cannot use the Docker engine", error) : error;
    }
  }
}
