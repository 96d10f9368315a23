import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { removeTree } from "../../src/base/remove-tree.ts";
import { EngineRefusal } from "../../src/docker-engine/engine-failure.ts";

export type Labels = Readonly<Record<string, string>>;

export const newId = (): string => randomBytes(32).toString("hex");

export interface Image {
  readonly Id: string;
  readonly RepoTags: readonly [string];
  readonly Size: number;
  readonly labels: Labels;
  /** Its root file system. */
  readonly folder: string;
}

/** The images of the stub of an engine: each is a folder, and has one name. */
export class StubImages {
  readonly #place: string;
  readonly #all = new Map<string, Image>();

  constructor(place: string) {
    this.#place = place;
  }

  get all(): Image[] {
    return [...this.#all.values()];
  }

  /** By its name or its id. */
  get(reference: string): Image {
    const image = this.#all.get(reference) ?? this.all.find(({ Id }) => Id === reference);
    if (!image) throw new EngineRefusal(404, `No such image: ${reference}`);
    return image;
  }

  /** `changes` are lines as of a Dockerfile. */
  async import(reference: string, tar: Readable, changes = ""): Promise<void> {
    const Id = newId();
    const folder = join(this.#place, Id);
    mkdirSync(folder);
    const words = ["--extract", "--numeric-owner", "--same-permissions", "--directory", folder];
    const unpack = spawn("tar", words, { stdio: ["pipe", "ignore", "ignore"] });
    unpack.stdin.on("error", () => undefined);
    tar.pipe(unpack.stdin);
    const code = await new Promise((done) => unpack.once("close", done));
    // Tar stops at the mark of the end, and what is sent goes on. Its input may close later than it does, which would stop what is sent once more.
    await finished(tar.unpipe(unpack.stdin).resume());
    if (code !== 0) throw new EngineRefusal(500, "the tar cannot be unpacked");
    const pairs = [...changes.matchAll(/^LABEL (.+?)=(.+)$/gm)].map(([, name = "", value = ""]): [string, string] => [
      name,
      JSON.parse(value) as string,
    ]);
    const labels = Object.fromEntries(pairs);
    this.#all.set(reference, { Id, RepoTags: [reference], Size: 0, labels, folder });
  }

  async remove(reference: string): Promise<void> {
    const { folder } = this.get(reference);
    this.#all.delete(reference);
    await removeTree(folder);
  }
}
