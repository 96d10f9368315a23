import { afterAll, beforeAll } from "vitest";
import type { ExecResult } from "../../src/model/exec.ts";
import { Installation } from "./installation.ts";

/** One workspace for the tests of a file, in an installation of its own that is checked for leftovers at the end. */
export class Sandbox {
  #at: Installation | undefined;
  #id: string | undefined;

  get at(): Installation {
    if (!this.#at) throw new Error("used before beforeAll");
    return this.#at;
  }

  get id(): string {
    if (this.#id === undefined) throw new Error("used before beforeAll");
    return this.#id;
  }

  async open(label: string): Promise<void> {
    this.#at = new Installation(label);
    this.#id = (await this.#at.sdk.createWorkspace({ environment: "host", backend: "container" })).workspace_id;
  }

  async close(): Promise<void> {
    await this.#at?.[Symbol.asyncDispose]();
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

export function useSandbox(label: string): Sandbox {
  const sandbox = new Sandbox();
  beforeAll(() => sandbox.open(label));
  afterAll(() => sandbox.close());
  return sandbox;
}
