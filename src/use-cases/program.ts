import { parseArgs } from "node:util";
import { isClocheError, messageOf } from "../base/errors.ts";
import { ERROR_CODES, failure, isErrorCode, toErrorDocument } from "../model/error-codes.ts";
import { Cloche } from "../sdk/cloche.ts";
import { runUseCase, type UseCaseReport } from "./run-use-case.ts";
import type { UseCase } from "./use-case.ts";

export interface UseCaseProgram {
  readonly choices: readonly string[];
  /** What runs when none is named. */
  readonly scenario: string;
  /** Throws for an unknown name. */
  find(name: string): readonly UseCase[];
}

/** One call, from its words to its exit code: 0 when all went as documented, 1 when not, 2 when the words do not fit. */
export async function runProgram(args: readonly string[], program: UseCaseProgram): Promise<number> {
  try {
    const options = parseOptions(args, program);
    if (options.help) {
      process.stdout.write(helpText(program));
      return 0;
    }
    return await runAll(program.find(options.scenario), options);
  } catch (error) {
    const known = isClocheError(error) ? error : failure("INTERNAL", messageOf(error), { cause: error });
    if (args.includes("--json")) process.stdout.write(`${JSON.stringify(toErrorDocument(known), null, 2)}\n`);
    else say(`error: ${known.message}`, `hint: ${known.hint}`);
    return isErrorCode(known.code) ? ERROR_CODES[known.code].exit : 1;
  }
}

interface ProgramOptions {
  readonly scenario: string;
  readonly environment: string;
  readonly backend: string;
  readonly json: boolean;
  readonly help: boolean;
}

function parseOptions(args: readonly string[], program: UseCaseProgram): ProgramOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        scenario: { type: "string", default: program.scenario },
        environment: { type: "string", default: "host" },
        backend: { type: "string", default: "container" },
        json: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    return values;
  } catch (error) {
    throw failure("USAGE", messageOf(error), { cause: error });
  }
}

async function runAll(useCases: readonly UseCase[], options: ProgramOptions): Promise<number> {
  const { environment, backend, json } = options;
  const interruption = new AbortController();
  // Once: a user who presses Ctrl-C a second time does not want to wait for the clean-up.
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => interruption.abort());
  const { signal } = interruption;
  await using client = new Cloche();
  const started = performance.now();
  const scenarios: UseCaseReport[] = [];
  for (const useCase of useCases) {
    if (signal.aborted) break;
    say(`${useCase.scenario}: ${useCase.title}`);
    const report = await runUseCase(useCase, {
      client,
      environment,
      backend,
      signal,
      onStep: ({ step, ok, duration_ms }) => say(`  ${ok ? "ok" : "FAILED"} ${step} (${duration_ms} ms)`),
    });
    if (report.error !== null) say(`  ${report.error}`);
    scenarios.push(report);
  }
  const ok = scenarios.length === useCases.length && scenarios.every((report) => report.ok);
  const duration_ms = Math.round(performance.now() - started);
  const document = { ok, environment, backend, duration_ms, scenarios };
  process.stdout.write(json ? `${JSON.stringify(document, null, 2)}\n` : toText(document, useCases.length));
  return ok ? 0 : 1;
}

interface PackReport {
  environment: string;
  backend: string;
  duration_ms: number;
  scenarios: readonly UseCaseReport[];
}

function toText({ environment, backend, duration_ms, scenarios }: PackReport, wanted: number): string {
  const lines = scenarios.map(
    (one) => `${one.scenario}: ${one.ok ? "passed" : "FAILED"}, ${one.steps.length} steps, ${seconds(one.duration_ms)}`,
  );
  const passed = scenarios.filter(({ ok }) => ok).length;
  const place = `environment ${environment}, backend ${backend}`;
  return `${[...lines, `${passed} of ${wanted} passed, ${place}, ${seconds(duration_ms)}`].join("\n")}\n`;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const helpText = ({ choices, scenario }: UseCaseProgram): string =>
  [
    "Walks documented use cases in real workspaces and checks every result.",
    "",
    `  --scenario NAME     ${choices.join(", ")} (default: ${scenario})`,
    "  --environment NAME  as in `cloche env list` (default: host)",
    "  --backend NAME      as in `cloche doctor` (default: container)",
    "  --json              print one JSON document on stdout",
    "",
  ].join("\n");

/** A sandbox's output can be in a message: nothing of it may steer the terminal. */
function say(...lines: readonly string[]): void {
  const printable = lines.map((line) => line.replace(/\p{Cc}/gu, (found) => (found === "\n" ? " " : "?")));
  process.stderr.write(`${printable.join("\n")}\n`);
}
