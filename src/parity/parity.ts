/** What `import … from "cloche/parity"` gives: the scenarios that every backend has to pass, and what runs them. */
export { PARITY_SCENARIOS } from "./all-scenarios.ts";
export type { ParityContext } from "./context.ts";
export { ParityRun, type ParityOutcome } from "./parity-run.ts";
export type { Capability, Scenario } from "./scenario.ts";
export type { ParityTarget } from "./target.ts";
