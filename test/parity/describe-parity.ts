import { mkdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PARITY_SCENARIOS } from "../../src/parity/all-scenarios.ts";
import { ParityRun } from "../../src/parity/parity-run.ts";
import { Installation, processesNaming } from "../helpers/installation.ts";
import { type PageOutcome, parityColumn, writeParityColumn } from "./parity-page.ts";

export interface ParitySetUp {
  readonly backend: string;
  /** Of the page, where it is not the backend's alone. */
  readonly column?: string;
  /** Titles of what is known not to work here, which is not tried. */
  readonly leftOut?: readonly string[];
  /** How the page tells what stands behind the name. */
  readonly environment: string;
  /** Variables of the installation; what it takes is made before. */
  env(): Promise<NodeJS.ProcessEnv> | NodeJS.ProcessEnv;
  /** What its sandboxes leave on the host besides processes that name the installation. */
  leftovers?(at: Installation): Promise<readonly string[]>;
  /** After the installation is gone. */
  tearDown?(): Promise<void>;
}

/** A change of an environment packs a whole system, which a machine without KVM takes minutes for on a busy host. */
const SLOWEST_MS = 400_000;

/** Runs every scenario on one backend. The page has a column of what came out. */
export function describeParity(setUp: ParitySetUp): void {
  const { backend, column = backend, leftOut = [] } = setUp;
  describe(`parity: ${column}`, () => {
    let at: Installation;
    let run: ParityRun | undefined;
    const tried = PARITY_SCENARIOS.filter(({ title }) => !leftOut.includes(title));
    const outcomes = new Map<string, PageOutcome>(leftOut.map((title) => [title, "cannot"]));

    beforeAll(async () => {
      at = new Installation(`p${backend.slice(0, 1)}`, await setUp.env());
      mkdirSync(at.path("files"));
      run = await ParityRun.open({
        backend,
        client: at.sdk,
        environment: setUp.environment,
        folder: at.path("files"),
        other: { backend: "container", environment: "debian:12" },
        leftovers: async () => [...sandboxProcesses(at), ...((await setUp.leftovers?.(at)) ?? [])],
      });
    }, SLOWEST_MS);

    afterAll(async () => {
      await run?.[Symbol.asyncDispose](); // not there when the backend does not work
      await at[Symbol.asyncDispose]();
      await setUp.tearDown?.();
    }, SLOWEST_MS);

    it.each(tried.map((scenario) => [scenario.topic, scenario.title, scenario] as const))(
      `${column}: %s: %s`,
      async (_topic, title, scenario) => {
        if (run) outcomes.set(title, await run.run(scenario));
      },
      SLOWEST_MS,
    );

    it(`${column}: docs/parity.md has what came out`, () => {
      expect(outcomes.size, "scenarios that did not come to an end").toBe(PARITY_SCENARIOS.length);
      if (process.env["UPDATE"]) writeParityColumn(column, outcomes);
      expect(parityColumn(column)).toEqual(Object.fromEntries(outcomes));
    });
  });
}

/** The daemon is no sandbox, and its clients are none; a machine that waits to become one is none yet. */
function sandboxProcesses(at: Installation): string[] {
  return processesNaming(at.home).filter((line) => !/daemon\/main\.js|\/spare-(copies|gates|machines)\//.test(line));
}
