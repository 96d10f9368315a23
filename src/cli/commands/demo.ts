import { randomBytes } from "node:crypto";
import { BACKEND } from "../arguments/common-options.ts";
import { defineCommand, type Context } from "../command.ts";
import { KEY, REAL_AGENTS, realBottle, scriptedBottle, TOKEN } from "../demo/bottle.ts";
import { openOutside } from "../demo/outside.ts";
import { makeRepository } from "../demo/repository.ts";
import { copySample } from "../demo/sample.ts";
import { DEMO_STEPS, type DemoState, type DemoStep } from "../demo/steps.ts";
import { formatElapsed } from "../output/duration.ts";
import { escapeName } from "../output/escape.ts";

interface DemoStepReport {
  step: number;
  name: string;
  title: string;
  ok: boolean;
  duration_ms: number;
  lines: string[];
}

interface DemoOptions {
  readonly environment: string | undefined;
  readonly backend: string | undefined;
  readonly agent: string | undefined;
}

export const command = defineCommand({
  words: ["demo"],
  summary: "See the main job done in a few seconds",
  description:
    "A scripted agent in a bottle repairs a failing test, tries to leak in three ways, and pushes what it did: once as it should, and once with a key in it. Needs no key and no network, and leaves nothing behind. With --agent a real one does the repair; that needs its program and your credential. Exits with 1 when a step does not go as promised.",
  positionals: [],
  options: {
    environment: {
      type: "string",
      value: "ENVIRONMENT",
      description: "As in `cloche env list` (default: host)",
      completes: "environment",
    },
    backend: BACKEND,
    agent: { type: "string", value: "AGENT", description: "A real agent in place of the script", choices: REAL_AGENTS },
  },
  examples: [
    "cloche demo",
    "cloche demo --backend vm --environment debian:12",
    "cloche demo --agent claude",
    "cloche demo --json",
  ],
  async run(context) {
    const started = performance.now();
    say(context, context.colours.bold("An agent under glass"));
    const steps = await runSteps(context, context.values);
    const ok = steps.every((step) => step.ok);
    const duration = Math.round(performance.now() - started);
    await context.print({ ok, duration_ms: duration, steps }, () => closing(steps, duration, context));
    return ok ? 0 : 1;
  },
});

async function runSteps(context: Context, options: DemoOptions): Promise<DemoStepReport[]> {
  const client = await context.connect();
  const token = `demo-token-${randomBytes(12).toString("hex")}`;
  await using sample = await copySample();
  await using outside = await openOutside(token);
  const { agent, backend, environment } = options;
  const repository = agent === undefined ? await makeRepository(sample.folder) : undefined;
  const reports: DemoStepReport[] = [];
  const { env } = context.io;
  const state: DemoState = {
    client,
    sample,
    outside,
    repository,
    backend,
    isScripted: agent === undefined,
    manifest:
      agent === undefined
        ? await scriptedBottle({ outside: outside.address, repository: repository?.url }, environment)
        : realBottle(agent, env, environment),
    values:
      agent === undefined
        ? { [TOKEN]: token, [KEY]: `demo-key-${randomBytes(12).toString("hex")}` }
        : Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value ?? ""])),
    tell: (line) => {
      reports.at(-1)?.lines.push(line);
      say(context, `   ${paint(line, context)}`);
    },
    identity: "",
    output: "",
  };
  const steps = DEMO_STEPS.filter(({ isScripted }) => isScripted === undefined || agent === undefined);
  try {
    for (const [index, step] of steps.entries()) await runStep(context, state, reports, { index, step });
    return reports;
  } finally {
    // A step that threw leaves the run to us; the step's error is the one to tell.
    if (state.identity !== "") await removeRun(client, state.identity);
  }
}

async function runStep(
  context: Context,
  state: DemoState,
  reports: DemoStepReport[],
  { index, step }: { index: number; step: DemoStep },
): Promise<void> {
  const { bold, dim, green, red } = context.colours;
  const began = performance.now();
  const { name, title } = step;
  const report = { step: index + 1, name, title, ok: false, duration_ms: 0, lines: [] };
  reports.push(report);
  say(context, `\n${bold(`${index + 1}. ${title}`)}`);
  const { ok } = await step.run(state);
  const duration = Math.round(performance.now() - began);
  Object.assign(report, { ok, duration_ms: duration });
  say(context, `   ${ok ? green("✓") : red("✗ not as promised")} ${dim(formatElapsed(duration))}`);
}

async function removeRun(client: DemoState["client"], identity: string): Promise<void> {
  await client.stopRun(identity).catch(() => undefined);
  await client.deleteWorkspace(identity).catch(() => undefined);
  // Its state goes with the next clean-up, which finds it without a workspace.
}

/** A part of the result that is shown as soon as it is known; with `--json` the document comes at the end. */
function say(context: Context, text: string): void {
  if (!context.json) context.io.stdout.write(`${text}\n`);
}

/** What the agent says is told from what it does, and what went wrong for it from the rest. */
function paint(line: string, { colours: { cyan, dim, green, red, yellow } }: Context): string {
  const text = escapeName(line);
  if (text.startsWith("> ")) return cyan(text);
  if (/^FAIL|^-/.test(text)) return red(text);
  if (/^ok |^\+/.test(text)) return green(text);
  return /403|nobody answers|refused|push.rejected|EGRESS_DENIED|DLP_BLOCKED|NOT_RESOLVED/.test(text)
    ? yellow(text)
    : dim(text);
}

function closing(
  steps: readonly DemoStepReport[],
  duration: number,
  { colours: { green, red }, io: { program } }: Context,
): string {
  return steps.every(({ ok }) => ok)
    ? `\n${green(`All ${steps.length} steps went as promised in ${formatElapsed(duration)}.`)} Your turn: ${program} init && ${program} start --cwd`
    : `\n${red("Not every step went as promised.")} See what the host offers: ${program} doctor`;
}
