import assert from "node:assert/strict";
import type { BackendHealth } from "../model/health.ts";
import { ParityContext, writeProject } from "./context.ts";
import type { Scenario } from "./scenario.ts";
import type { ParityTarget } from "./target.ts";

/** `works`, or the code with which a backend refused what it does not declare. */
export type ParityOutcome = "works" | "refuses";

/** The comparison of one backend: runs scenarios, one after the other, and cleans up after each. */
export class ParityRun implements AsyncDisposable {
  readonly #target: ParityTarget;
  readonly #health: BackendHealth;
  readonly #shared = new Map<string, Promise<string>>();

  /** Fails when the backend does not work here: a missing backend is no reason to leave it out. */
  static async open(target: ParityTarget): Promise<ParityRun> {
    const { backends } = await target.client.doctor();
    const health = backends.find(({ name }) => name === target.backend);
    assert.ok(health, `there is no backend "${target.backend}"`);
    assert.ok(
      health.available,
      `backend "${target.backend}" does not work here: ${health.detail} (${health.hint ?? ""})`,
    );
    await writeProject(target.folder);
    return new ParityRun(target, health);
  }

  private constructor(target: ParityTarget, health: BackendHealth) {
    this.#target = target;
    this.#health = health;
  }

  async run(scenario: Scenario): Promise<ParityOutcome> {
    const context = new ParityContext(this.#target, this.#health, scenario.topic, this.#shared);
    const { needs } = scenario;
    try {
      if (!needs || this.#health.capabilities[needs.capability]) {
        await scenario.run(context);
        return "works";
      }
      await this.#expectRefusal(context, needs);
      return "refuses";
    } finally {
      await context.close();
    }
  }

  /** Deletes what the scenarios shared. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const made of this.#shared.values()) {
      const id = await made.catch(() => undefined); // told by the scenario that asked for it
      if (id !== undefined) await this.#target.client.deleteWorkspace(id);
    }
  }

  async #expectRefusal(context: ParityContext, needs: NonNullable<Scenario["needs"]>): Promise<void> {
    await needs.prepare?.(context);
    const before = await this.#workspaces();
    const expectNothingLeft = await context.noteLeftovers();
    const code = await context.refusal(needs.ask(context));
    assert.equal(code, "NOT_SUPPORTED", `what needs ${needs.capability} is refused`);
    assert.deepEqual(await this.#workspaces(), before, "a refusal makes no workspace");
    await expectNothingLeft();
  }

  async #workspaces(): Promise<string[]> {
    const { workspaces } = await this.#target.client.listWorkspaces();
    return workspaces.map((one) => one.workspace_id).sort();
  }
}
