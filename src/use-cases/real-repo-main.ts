import { runProgram } from "./program.ts";
import { realRepo } from "./real-repo.ts";

/** Beside the registry: it needs a checkout of this project with its tools, which an installed package does not have. */
process.exitCode = await runProgram(process.argv.slice(2), {
  choices: [realRepo.scenario],
  scenario: realRepo.scenario,
  find: () => [realRepo],
});
