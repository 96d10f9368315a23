import type { Workspace } from "../model/workspace.ts";
import type { Cloche } from "../sdk/cloche.ts";
import type { CreateOptions } from "../sdk/options.ts";
import type { Expect } from "./expectation.ts";

/** Which part of the workspace verbs a job needs: files, patches and commands, or services, shells and snapshots as well. */
export type UseCaseProfile = "workspace-core" | "workspace-full";
export type UseCaseMode = "repro-fix" | "inspect" | "cold-start" | "review-eval";

/** A job that people do with workspaces: its document, and a walk along that document that proves itself. */
export interface UseCase {
  readonly scenario: string;
  readonly title: string;
  readonly profile: UseCaseProfile;
  readonly mode: UseCaseMode;
  /** From the root of the project. */
  readonly docPath: string;
  /** Of the Makefile. */
  readonly smokeTarget: string;
  /** Throws at the first step that does not give what the document says. */
  run(context: UseCaseContext): Promise<void>;
}

export interface UseCaseContext {
  readonly client: Cloche;
  /** On the host, for what is taken out; removed at the end. */
  readonly folder: string;
  /** Aborted when the user wants it to end. */
  readonly signal: AbortSignal;
  /** Writes a project into the folder and gives its path. */
  readonly seed: (files: Readonly<Record<string, string>>) => Promise<string>;
  /** A workspace of the environment and the backend that were asked for. Whatever happens, it is gone at the end. */
  readonly create: (options: Omit<CreateOptions, "environment" | "backend" | "signal">) => Promise<Workspace>;
  /** One step of the document. What it throws is told with its name. */
  readonly step: <T>(name: string, body: (expect: Expect) => Promise<T>) => Promise<T>;
}
