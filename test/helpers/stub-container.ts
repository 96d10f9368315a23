import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeTree } from "../../src/base/remove-tree.ts";
import { EngineRefusal } from "../../src/docker-engine/engine-failure.ts";
import { type ContainerBody, stubContainerConfig } from "./stub-container-config.ts";
import type { Image } from "./stub-images.ts";

interface StubContainerPlan {
  readonly name: string;
  readonly body: ContainerBody;
  /** It stays as it is. */
  readonly image: Image;
  /** Where it keeps what it has. */
  readonly folder: string;
}

/** Its root over the image, in a mount namespace that goes with the container; then the runtime. */
const START = 'mount -t overlay -o "lowerdir=$0,upperdir=upper,workdir=work" overlay root && exec "$@"';
const LOOK_AGAIN_MS = 2;

/** A container of the stub of an engine: a process of an OCI runtime while it runs. What it wrote stays until it is removed. */
export class StubContainer {
  readonly id: string;
  readonly name: string;
  readonly body: ContainerBody;
  readonly image: Image;
  readonly #folder: string;
  #isRunning = false;
  #end: Promise<number> = Promise.resolve(0);
  #exitCode = 0;
  #pid = 0;
  #log = "";

  constructor(id: string, { name, body, image, folder }: StubContainerPlan) {
    this.id = id;
    this.name = name;
    this.body = body;
    this.image = image;
    this.#folder = folder;
  }

  get volumes(): string[] {
    return (this.body.HostConfig?.Mounts ?? []).filter(({ Type }) => Type === "volume").map(({ Source }) => Source);
  }

  isRunning(): boolean {
    return this.#isRunning;
  }

  /** As an engine tells it. */
  get state(): object {
    return { Running: this.#isRunning, Pid: this.#pid, ExitCode: this.#exitCode, Error: "" };
  }

  /** What its first process has printed, as an engine sends it. */
  get log(): Buffer {
    const text = Buffer.from(this.#log);
    const head = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
    head.writeUInt32BE(text.length, 4);
    return Buffer.concat([head, text]);
  }

  /** Resolves when its first process runs, or has ended already. */
  async start(): Promise<void> {
    if (this.isRunning()) return;
    for (const part of ["root", "upper", "work"]) mkdirSync(join(this.#folder, part), { recursive: true });
    writeFileSync(join(this.#folder, "config.json"), JSON.stringify(stubContainerConfig(this.body, "root")));
    const pidFile = join(this.#folder, "pid");
    rmSync(pidFile, { force: true });
    const runtime = ["runc", "--root", "state", "run", "--pid-file", "pid", this.id];
    this.#run(["unshare", "--mount", "sh", "-c", START, this.image.folder, ...runtime]);
    while (this.isRunning() && !existsSync(pidFile)) await new Promise((done) => setTimeout(done, LOOK_AGAIN_MS));
    if (this.isRunning()) this.#pid = Number(readFileSync(pidFile, "utf8"));
  }

  /** Gives its exit code. */
  ended(): Promise<number> {
    return this.#end;
  }

  async kill(): Promise<void> {
    if (!this.#isRunning) throw new EngineRefusal(409, `${this.name} does not run`);
    process.kill(this.#pid, "SIGKILL");
    await this.#end;
  }

  async remove(): Promise<void> {
    if (this.#isRunning) await this.kill();
    await removeTree(this.#folder);
  }

  #run([program = "", ...words]: string[]): void {
    const child = spawn(program, words, { cwd: this.#folder, stdio: ["ignore", "pipe", "pipe"] });
    for (const output of [child.stdout, child.stderr])
      output.on("data", (chunk: Buffer) => (this.#log += chunk.toString()));
    this.#isRunning = true;
    this.#end = new Promise((done) => {
      child.once("close", (code) => {
        this.#isRunning = false;
        this.#pid = 0;
        this.#exitCode = code ?? 1;
        done(this.#exitCode);
      });
    });
  }
}
