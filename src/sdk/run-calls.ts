import type { Applied } from "../model/applied.ts";
import type { AgentDetail, AgentList, ManifestStarted, PlannedRun } from "../model/bottle-plan.ts";
import type { CleanedUp, Run, RunEnd, RunList } from "../model/run.ts";
import { ask } from "./ask.ts";
import type { DaemonConnection } from "./connection.ts";
import { manifestHere, runHere } from "./on-this-host.ts";
import type {
  ApplyRunOptions,
  AttachRunOptions,
  CallOptions,
  CleanUpOptions,
  InitManifestOptions,
  ListRunsOptions,
  LongCallOptions,
  ManifestOptions,
  PlanRunOptions,
  PlanResumeOptions,
  ResumeRunOptions,
  RunAttachment,
  StartRunOptions,
} from "./options.ts";
import { AuditCalls } from "./audit-calls.ts";
import type { ClientParts, ProcessEnvironment } from "./installation-calls.ts";

/** The calls about agents and their runs, beside those about what they ask for and about the installation. */
export class RunCalls extends AuditCalls {
  readonly #connection: DaemonConnection;
  readonly #env: ProcessEnvironment;

  constructor(parts: ClientParts) {
    super(parts);
    this.#connection = parts.connection;
    this.#env = parts.env;
  }

  /** The agents and bottles there are, also those that are broken. */
  async listAgents(options: ManifestOptions = {}): Promise<AgentList> {
    return await this.#connection.call("listAgents", manifestHere(options), { signal: options.signal });
  }

  /** All that an agent would have, with the source of each field. */
  async inspectAgent(agent: string, options: PlanRunOptions = {}): Promise<AgentDetail> {
    const { signal, ...rest } = options;
    return await this.#connection.call("inspectAgent", runHere(agent, rest, this.#env), { signal });
  }

  /** What starting an agent would do. Makes nothing, and needs no credential. */
  async planRun(agent: string, options: PlanRunOptions = {}): Promise<PlannedRun> {
    const { signal, ...rest } = options;
    return await this.#connection.call("planRun", runHere(agent, rest, this.#env), { signal });
  }

  /** Writes a first bottle and a first agent, and never over what is there. */
  async initManifest(options: InitManifestOptions = {}): Promise<ManifestStarted> {
    return await ask(this.#connection, "initManifest", {}, options);
  }

  /** Plans, makes and provisions all that an agent needs, and starts it. It goes on without a client. */
  async startRun(agent: string, options: StartRunOptions = {}): Promise<Run> {
    const { signal, onProgress, ...asked } = options;
    const { startRunInput } = await import("./runs.ts");
    return await this.#connection.call("startRun", startRunInput(agent, asked, this.#env), { signal, onProgress });
  }

  /** What resuming a run would do, and what it needs for it. Makes nothing. */
  async planResume(identity: string, options: PlanResumeOptions = {}): Promise<PlannedRun> {
    const { resumeHere } = await import("./runs.ts");
    return await this.#connection.call("planResume", { identity, ...resumeHere(options, this.#env) }, options);
  }

  /** Starts the agent of a run that was kept again, in its workspace and on its backend. */
  async resumeRun(identity: string, options: ResumeRunOptions = {}): Promise<Run> {
    const { signal, onProgress } = options;
    const { resumeRunInput } = await import("./runs.ts");
    return await this.#connection.call("resumeRun", resumeRunInput(identity, options, this.#env), {
      signal,
      onProgress,
    });
  }

  /** What the agent prints, and what is typed where it has a terminal. */
  async attachRun(identity: string, options: AttachRunOptions = {}): Promise<RunAttachment> {
    const { signal, ...input } = options;
    const { openAttachment } = await import("./attached-run.ts");
    return openAttachment(this.#connection, { ...input, identity }, signal);
  }

  /** Ends the agent of a run; the run is kept. */
  async stopRun(identity: string, options: CallOptions = {}): Promise<RunEnd> {
    return await ask(this.#connection, "stopRun", { identity }, options);
  }

  /** Freezes the workspace and the home of a run, for starts with `from`. Its agent goes on. */
  async commitRun(identity: string, options: LongCallOptions = {}): Promise<Run> {
    return await ask(this.#connection, "commitRun", { identity }, options);
  }

  /** Brings what changed in the workspace of a run, or in any other, into a checkout of this host. */
  async applyRun(identity: string, options: ApplyRunOptions = {}): Promise<Applied> {
    const { applyHere } = await import("./runs.ts");
    const { signal, onProgress } = options;
    return await this.#connection.call("applyRun", applyHere(identity, options), { signal, onProgress });
  }

  async listRuns(options: ListRunsOptions = {}): Promise<RunList> {
    return await ask(this.#connection, "listRuns", {}, options);
  }

  /** Removes what runs have left, on every backend. */
  async cleanUp(options: CleanUpOptions = {}): Promise<CleanedUp> {
    return await ask(this.#connection, "cleanUp", {}, options);
  }
}
