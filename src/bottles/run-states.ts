import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "../base/atomic-write.ts";
import { errnoOf } from "../base/errors.ts";
import { randomName } from "../base/ids.ts";
import { removeTree } from "../base/remove-tree.ts";
import { describeIssue } from "../model/describe-issue.ts";
import { failure } from "../model/error-codes.ts";
import { IDENTITY } from "../model/names.ts";
import { runMissing } from "../model/run-missing.ts";
import { RUN_VERSION, RunMetadata } from "../model/run.ts";

const FILE = "metadata.json";
const RANDOM_CHARACTERS = 5;
const MAX_TRIES = 16;

/** What is written down about runs: a folder for each, `state/IDENTITY`, from before anything is made until nothing of it is left. */
export class RunStates {
  readonly #root: string;

  constructor(home: string) {
    this.#root = join(home, "state");
  }

  /** A new identity; its folder is made, so that nobody else has it. */
  claim(agentName: string): string {
    mkdirSync(this.#root, { recursive: true, mode: 0o700 });
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const identity = `${agentName}-${randomName(RANDOM_CHARACTERS)}`;
      try {
        mkdirSync(join(this.#root, identity), { mode: 0o700 });
        return identity;
      } catch (error) {
        if (errnoOf(error) !== "EEXIST") throw error;
      }
    }
    throw failure("INTERNAL", `Cannot find a free identity for "${agentName}"`);
  }

  /** Where what is known of a run is kept. */
  folder(identity: string): string {
    return join(this.#root, identity);
  }

  async write(metadata: RunMetadata): Promise<void> {
    // Somebody may have removed it under an agent at work: what is known of the run is known again.
    mkdirSync(this.folder(metadata.identity), { recursive: true, mode: 0o700 });
    await writeFileAtomic(this.#file(metadata.identity), `${JSON.stringify(metadata, undefined, 2)}\n`);
  }

  /** RUN_NOT_FOUND when there is none, RUN_STATE_INVALID when it cannot be used. */
  read(identity: string): RunMetadata {
    let text: string;
    try {
      text = readFileSync(this.#file(identity), "utf8");
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw invalid(identity, errnoOf(error) ?? "it cannot be read");
      if (existsSync(join(this.#root, identity))) throw invalid(identity, `${FILE} is missing`);
      throw runMissing(identity, this.list());
    }
    return parseMetadata(identity, text);
  }

  /** Identities that have a folder, whatever is in it. */
  list(): string[] {
    try {
      return readdirSync(this.#root).filter((name) => IDENTITY.test(name));
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return [];
      throw error;
    }
  }

  /** Idempotent. */
  async remove(identity: string): Promise<void> {
    await removeTree(join(this.#root, identity));
  }

  #file(identity: string): string {
    return join(this.#root, identity, FILE);
  }
}

function parseMetadata(identity: string, text: string): RunMetadata {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw invalid(identity, `${FILE} is not JSON`);
  }
  const version: unknown = (document as { version?: unknown } | null)?.version;
  if (typeof version === "number" && version > RUN_VERSION)
    throw failure(
      "RUN_STATE_INVALID",
      `The state of run "${identity}" is of version ${version}, and this cloche reads ${RUN_VERSION}`,
      {
        hint: "Use the newer cloche that wrote it",
      },
    );
  const read = RunMetadata.safeParse(document);
  if (!read.success) throw invalid(identity, describeIssue(RunMetadata, document, read.error));
  if (read.data.identity !== identity) throw invalid(identity, `${FILE} is that of "${read.data.identity}"`);
  return read.data;
}

const invalid = (identity: string, why: string): Error =>
  failure("RUN_STATE_INVALID", `The state of run "${identity}" cannot be used: ${why}`);
