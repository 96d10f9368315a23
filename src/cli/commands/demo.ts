import { homedir } from "node:os";
import type { Colours } from "../output/colour.ts";
import { defineCommand, type Context } from "../command.ts";
import { BACKEND } from "../arguments/common-options.ts";
import { copySample } from "../demo/sample.ts";
import { DEMO_STEPS, type DemoState } from "../demo/steps.ts";
import { formatElapsed } from "../output/duration.ts";
import { escapeName } from "../output/escape.ts";
import { writeAll } from "../output/write-all.ts";

interface DemoStepReport {
  step: number;
  name: string;
  title: string;
  ok: boolean;
  duration_ms: number;
  lines: readonly string[];
}

export const command = defineCommand({
  words: ["demo"],
  summary: "See the main job done in a few seconds",
  description:
    "Needs no key and no network, and leaves nothing behind. Exits with 1 when a step does not go as promised.",
  positionals: [],
  options: {
    environment: {
      type: "string",
      value: "ENVIRONMENT",
      description: "As in `cloche env list` (default: host)",
      completes: "environment",
    },
    backend: BACKEND,
  },
  examples: ["cloche demo", "cloche demo --environment debian:12", "cloche demo --json"],
  async run(context) {
    const started = performance.now();
    await say(context, context.colours.bold("A project with a failing test, repaired under glass"));
    const steps = await runSteps(context, context.values);
    const ok = steps.every((step) => step.ok);
    const duration = Math.round(performance.now() - started);
    await context.print({ ok, duration_ms: duration, steps }, () => closing(ok, duration, context));
    return ok ? 0 : 1;
  },
});

async function runSteps(
  context: Context,
  options: { environment: string | undefined; backend: string | undefined },
): Promise<DemoStepReport[]> {
  const client = await context.connect();
  const sample = await copySample();
  const { environment, backend } = options;
  const state: DemoState = { client, sample, home: homedir(), environment, backend, workspaceId: "" };
  const reports: DemoStepReport[] = [];
  try {
    for (const [index, step] of DEMO_STEPS.entries()) {
      const began = performance.now();
      const { ok, lines } = await step.run(state);
      const report = {
        step: index + 1,
        name: step.name,
        title: step.title,
        ok,
        duration_ms: Math.round(performance.now() - began),
        lines,
      };
      reports.push(report);
      await say(context, formatStep(report, context.colours));
    }
    return reports;
  } finally {
    // A step that threw leaves the workspace to us; the step's error is the one to tell.
    if (state.workspaceId !== "") await client.deleteWorkspace(state.workspaceId).catch(() => undefined);
    await sample[Symbol.asyncDispose]();
  }
}

/** A part of the result that is shown as soon as it is known; with `--json` the document comes at the end. */
async function say(context: Context, text: string): Promise<void> {
  if (!context.json) await writeAll(context.io.stdout, `${text}\n`);
}

function formatStep(report: DemoStepReport, { bold, dim, green, red }: Colours): string {
  const mark = report.ok ? green("✓") : red("✗ not as promised");
  const head = `\n${bold(`${report.step}. ${report.title}`)}  ${mark} ${dim(formatElapsed(report.duration_ms))}`;
  return [head, ...report.lines.map((line) => `   ${dim(escapeName(line))}`)].join("\n");
}

function closing(ok: boolean, duration: number, { colours: { green, red }, io: { program } }: Context): string {
  const { length } = DEMO_STEPS;
  return ok
    ? `\n${green(`All ${length} steps went as promised in ${formatElapsed(duration)}.`)} Your turn: ${program} workspace create --seed-path .`
    : `\n${red("Not every step went as promised.")} See what the host offers: ${program} doctor`;
}
