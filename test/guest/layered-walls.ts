import { chmodSync, chownSync, lchownSync, mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ContainerBackend } from "../../src/backends/container/container-backend.ts";
import { currentIdMap } from "../../src/base/id-map.ts";
import { removeTree } from "../../src/base/remove-tree.ts";
import type { Wall } from "../../src/contracts/backend.ts";
import type { GuestClient } from "../../src/guest/client.ts";
import { GuestFiles } from "../../src/guest/files.ts";
import { AGENT, shell } from "./real-guest.ts";

export const idMap = currentIdMap();

export interface Sandbox {
  readonly directory: string;
  readonly wall: Wall;
  readonly client: GuestClient;
  readonly files: GuestFiles;
  readonly sh: (script: string) => Promise<string>;
}

/** Real sandboxes over one baseline and the host's `/usr`, without a daemon. */
export class LayeredWalls implements AsyncDisposable {
  readonly home = mkdtempSync(join(tmpdir(), "cloche-layers-"));
  readonly baseline = join(this.home, "baseline");
  readonly backend = new ContainerBackend({ home: this.home, idMap });
  /** Of the environment. */
  readonly root = join(this.home, "root");
  readonly #walls: string[] = [];

  /** `prepare` fills the baseline, whose files then belong to the sandbox's user. */
  constructor(prepare: (own: (path: string) => void, baseline: string) => void) {
    for (const path of ["", "usr", "workspace", "proc", "dev", "tmp", "run", "etc"]) this.makeFolder(path);
    for (const name of ["bin", "lib", "lib64", "sbin"]) symlinkSync(`usr/${name}`, join(this.root, name));
    mkdirSync(this.baseline, { mode: 0o755 });
    const agent = idMap.toHost(AGENT.uid, AGENT.gid);
    const own = (path: string) => lchownSync(join(this.baseline, path), agent.uid, agent.gid);
    own("");
    prepare(own, this.baseline);
    chmodSync(this.home, 0o700);
  }

  /** In the environment, root's. */
  makeFolder(path: string): void {
    const { uid, gid } = idMap.toHost(0, 0);
    mkdirSync(join(this.root, path), { mode: 0o755 });
    chownSync(join(this.root, path), uid, gid);
  }

  async start(layers: readonly string[], ociRuntime?: string): Promise<Sandbox> {
    const id = `layers-${process.pid}-${this.#walls.length}`;
    const directory = join(this.home, id);
    this.#walls.push(id);
    mkdirSync(directory, { mode: 0o700 });
    const limits = { vcpuCount: 1, memMib: 256, pids: 256, diskMib: undefined };
    const rootfs = { name: "test", digest: "", root: this.root, hostPaths: ["/usr"], coveredPaths: [] };
    const spec = {
      sandboxName: id,
      directory,
      rootfs,
      baseline: this.baseline,
      layers,
      hostname: "t",
      limits,
      ociRuntime,
    };
    const wall = await this.backend.start(spec, undefined);
    const client = await wall.connect();
    const sh = async (script: string) => {
      const { stdout, stderr, exit } = await shell(client, script, { cwd: "/workspace" });
      if (exit.code !== 0) throw new Error(`${script}: ${exit.code} ${stderr}`);
      return stdout;
    };
    return { directory, wall, client, files: new GuestFiles(client, AGENT), sh };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const id of this.#walls) await this.backend.remove(id, join(this.home, id));
    await removeTree(this.home);
  }
}
