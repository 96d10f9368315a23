import { ALL_USE_CASES, findUseCases, USE_CASE_CHOICES } from "./registry.ts";
import { runProgram } from "./program.ts";

process.exitCode = await runProgram(process.argv.slice(2), {
  choices: USE_CASE_CHOICES,
  scenario: ALL_USE_CASES,
  find: findUseCases,
});
