import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { removeTree } from "../../src/base/remove-tree.ts";
import { PROJECT } from "./installation.ts";

const FOLDER = join(PROJECT, "test/fixtures/smolvm");

export interface SmolvmFaults {
  version?: string;
  hang?: string[];
  garbage?: string[];
  fail?: Record<string, string>;
  /** Killed at the end of its work. */
  die?: string[];
}

/** The stand-in for `smolvm`, with a data folder of its own. */
export class SmolvmStandIn {
  readonly data = mkdtempSync(join(tmpdir(), "cl-sv-"));

  /** Variables of whoever is to find it. */
  get env(): { PATH: string; SMOLVM_DATA_DIR: string } {
    return { PATH: `${FOLDER}${delimiter}${process.env["PATH"] ?? ""}`, SMOLVM_DATA_DIR: this.data };
  }

  /** From the next call on. */
  misbehave(faults: SmolvmFaults): void {
    writeFileSync(join(this.data, "faults.json"), JSON.stringify(faults));
  }

  /** Every argument vector so far. */
  calls(): string[][] {
    return readFileSync(join(this.data, "calls.jsonl"), "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as string[]);
  }

  async machines(): Promise<{ name: string; state: string; labels: Record<string, string> }[]> {
    const run = promisify(execFile);
    const { stdout } = await run(join(FOLDER, "smolvm"), ["machine", "ls", "--json"], {
      env: { ...process.env, ...this.env },
    });
    return JSON.parse(stdout) as never;
  }

  async remove(): Promise<void> {
    await removeTree(this.data);
  }
}
