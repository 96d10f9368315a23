import { mkdtempSync, realpathSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";
import { runProcess } from "./installation.ts";

const SCRIPT = fileURLToPath(new URL("../../scripts/docker-engine", import.meta.url));
const PATIENCE_MS = 100_000;

/** A real Docker engine of its own: private data, private containerd, one unix socket, no network. Disposing of it ends all that it runs. */
export class DockerEngine implements AsyncDisposable {
  /** What `DOCKER_HOST` takes. */
  readonly host: string;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.host = `unix://${folder}/docker.sock`;
  }

  static async start(): Promise<DockerEngine> {
    const folder = join(realpathSync(mkdtempSync(join(tmpdir(), "cl-de-"))), "e");
    await control("start", folder);
    return new DockerEngine(folder);
  }

  /** For the installation that is to use it; nothing of the user's own Docker configuration shows through. */
  get env(): NodeJS.ProcessEnv {
    return { DOCKER_HOST: this.host, DOCKER_CONFIG: join(this.#folder, "no-config"), DOCKER_CONTEXT: "" };
  }

  /** As a crash would: containers go on. */
  async kill(): Promise<void> {
    await control("kill", this.#folder);
  }

  /** Starts an engine that was killed. Like any engine without live-restore, it first ends the containers of the last one. */
  async revive(): Promise<void> {
    await control("revive", this.#folder);
  }

  /** What the `docker` command prints. */
  async docker(...args: string[]): Promise<string> {
    const env = { ...process.env, ...this.env };
    const { code, stdout, stderr } = await runProcess("docker", args, { env, timeoutMs: PATIENCE_MS });
    if (code !== 0) throw new Error(`docker ${args.join(" ")}: ${stderr}`);
    return stdout.trim();
  }

  /** Names of containers and volumes that are there, running or not. */
  async leftovers(): Promise<string[]> {
    const lists = [await this.docker("ps", "-a", "--format", "{{.Names}}"), await this.docker("volume", "ls", "-q")];
    return lists.flatMap((list) => list.split("\n")).filter(Boolean);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await control("stop", this.#folder);
    rmdirSync(dirname(this.#folder));
  }
}

/** One engine for the tests of a file. */
export function useDockerEngine(): { readonly engine: DockerEngine } {
  let started: DockerEngine | undefined;
  beforeAll(async () => {
    started = await DockerEngine.start();
  }, PATIENCE_MS);
  afterAll(async () => {
    await started?.[Symbol.asyncDispose]();
  }, PATIENCE_MS);
  return {
    get engine() {
      if (!started) throw new Error("used before beforeAll");
      return started;
    },
  };
}

async function control(command: "start" | "kill" | "revive" | "stop", folder: string): Promise<void> {
  const { code, stderr } = await runProcess(SCRIPT, [command, folder], { timeoutMs: PATIENCE_MS });
  if (code !== 0) throw new Error(`scripts/docker-engine ${command}: ${stderr}`);
}
