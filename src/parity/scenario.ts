import type { ParityContext } from "./context.ts";

/** What a backend may declare; see `backends[].capabilities` of `cloche doctor --json`. */
export type Capability = "host_folders" | "oci_runtime" | "live_snapshots" | "machine_files" | "egress";

/** One behaviour that every backend has, or declares that it has not. */
export interface Scenario {
  /** What it is about; the scenarios of a topic share a workspace. */
  readonly topic: string;
  /** The behaviour, in words that read on after "works the same:". */
  readonly title: string;
  /** Throws, with what differs, when the backend does not behave so. */
  run(at: ParityContext): Promise<void>;
  /** For what a backend need not be able to do. */
  readonly needs?: {
    readonly capability: Capability;
    /** What has to be there before it can be asked. */
    prepare?(at: ParityContext): Promise<unknown>;
    /** What is asked of a backend that does not declare it: has to fail with NOT_SUPPORTED, and to leave nothing. */
    ask(at: ParityContext): Promise<unknown>;
  };
}

/** The scenarios of one topic. */
export const scenarios = (
  topic: string,
  entries: Readonly<Record<string, Scenario["run"] | Omit<Scenario, "topic" | "title">>>,
): readonly Scenario[] =>
  Object.entries(entries).map(([title, entry]) => ({
    topic,
    title,
    ...(typeof entry === "function" ? { run: entry } : entry),
  }));
