import { afterAll, beforeAll, describe } from "vitest";
import type { ExecResult } from "../../src/model/exec.ts";
import { DockerEngine } from "./docker-engine.ts";
import { Installation } from "./installation.ts";

export interface WallUnderAttack {
  readonly backend: "container" | "docker" | "vm";
  readonly environment: string;
}

const CONTAINER: WallUnderAttack = { backend: "container", environment: "host" };
/** Those that share the host's kernel, and show folders of the host. */
export const SHARING_WALLS: readonly WallUnderAttack[] = [CONTAINER, { backend: "docker", environment: "host" }];
const WALLS: readonly WallUnderAttack[] = [...SHARING_WALLS, { backend: "vm", environment: "debian:12" }];
/** A machine that is the first of its environment boots once. */
const OPEN_MS = 300_000;

/** One workspace for the tests of a file, in an installation of its own that is checked for leftovers at the end. */
export class Sandbox {
  readonly wall: WallUnderAttack;
  #engine: DockerEngine | undefined;
  #at: Installation | undefined;
  #id: string | undefined;

  constructor(wall = CONTAINER) {
    this.wall = wall;
  }

  get at(): Installation {
    if (!this.#at) throw new Error("used before beforeAll");
    return this.#at;
  }

  get id(): string {
    if (this.#id === undefined) throw new Error("used before beforeAll");
    return this.#id;
  }

  async open(label: string): Promise<void> {
    if (this.wall.backend === "docker") this.#engine = await DockerEngine.start();
    this.#at = new Installation(label, this.#engine?.env);
    this.#id = await this.create();
  }

  async close(): Promise<void> {
    await this.#at?.[Symbol.asyncDispose]();
    await this.#engine?.[Symbol.asyncDispose]();
  }

  /** One more workspace behind such a wall. */
  async create(options: { network_policy?: "published-ports" } = {}): Promise<string> {
    return (await this.at.sdk.createWorkspace({ ...this.wall, ...options })).workspace_id;
  }

  /** A shell command in the workspace. */
  async sh(command: string, options: { timeout_seconds?: number } = {}): Promise<ExecResult> {
    return await this.at.sdk.execWorkspace(this.id, { command, ...options });
  }

  /** A Perl program in the workspace: Perl is in every environment and can make any system call. */
  async perl(program: string): Promise<ExecResult> {
    return await this.at.sdk.execWorkspace(this.id, { command: ["perl", "-e", program] });
  }
}

export function useSandbox(label: string, wall = CONTAINER): Sandbox {
  const sandbox = new Sandbox(wall);
  beforeAll(() => sandbox.open(label), OPEN_MS);
  afterAll(() => sandbox.close());
  return sandbox;
}

/** The same attacks on every wall: a workspace of its own for each. */
export function describeWalls(
  title: string,
  label: string,
  attacks: (box: Sandbox) => void,
  walls: readonly WallUnderAttack[] = WALLS,
): void {
  describe.each(walls)(`${title}, backend $backend`, (wall) => attacks(useSandbox(label, wall)));
}
