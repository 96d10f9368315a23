import { z } from "zod";
import { messageOf } from "../../base/errors.ts";
import type { AgentProvision, BottleSpec, PlannedAgent, StandIn } from "../../model/bottle-plan.ts";
import { describeIssue } from "../../model/describe-issue.ts";
import { failure } from "../../model/error-codes.ts";
import { AGENT, WORKSPACE_ROOT } from "../../model/names.ts";
import type { AgentTask, Provider, ProviderChoice } from "../../model/provider.ts";

/** Where the prompt of every agent is. */
export const PROMPT_FILE = `${AGENT.home}/.cloche/prompt.txt`;

const text = z
  .string()
  .max(1_048_576)
  .refine((value) => !value.includes("\0"), "it has a zero byte");
const path = text.regex(/^\/(?!.*(?:^|\/)\.\.?(?:\/|$))/, "it is an absolute path without '.' and '..'");

/** What a provider gives, which may be a plugin's. */
const Given = z.strictObject({
  argv: z.array(text).min(1).max(4096),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "it is no name of a variable"), text),
  files: z.array(z.strictObject({ path, text, mode: z.number().int().min(0).max(0o777) })).max(256),
});

export interface ProvisionInput {
  readonly spec: BottleSpec;
  readonly agent: PlannedAgent;
  readonly provider: Provider;
  readonly choice: ProviderChoice;
  readonly session: { readonly id: string; readonly resume: boolean };
  readonly standIns: readonly StandIn[];
  readonly superviseUrl: string | null;
  readonly guestSkillsFolder: string | null;
}

/** What the agent's program is given and how it is called. */
export function planProvision(input: ProvisionInput): AgentProvision {
  const { provider, choice, session } = input;
  const task = taskOf(input);
  const { argv, env, files } = asked(provider, () => ({
    argv: provider.argv(task),
    env: provider.env(task),
    files: provider.files(task),
  }));
  const shown = new Set(provider.shown_env);
  return {
    provider: provider.name,
    program: provider.program(choice),
    argv,
    guest_home: AGENT.home,
    guest_cwd: WORKSPACE_ROOT,
    prompt_file: PROMPT_FILE,
    guest_env: env,
    hidden_env_names: [...Object.keys(env).filter((name) => !shown.has(name)), ...Object.keys(task.stand_ins)],
    files,
    skills_folder: input.guestSkillsFolder ?? `${AGENT.home}/${provider.skills_folder}`,
    session_id: session.id,
  };
}

function taskOf({ spec, agent, choice, session, standIns, superviseUrl }: ProvisionInput): AgentTask {
  return {
    choice,
    home: AGENT.home,
    cwd: WORKSPACE_ROOT,
    instructions: agent.prompt,
    prompt_file: agent.prompt === "" ? null : PROMPT_FILE,
    prompt: spec.prompt,
    headless: spec.headless,
    session,
    stand_ins: Object.fromEntries(standIns.map(({ variable, value }) => [variable, value])),
    supervise_url: superviseUrl,
  };
}

function asked({ name }: Provider, ask: () => unknown): z.infer<typeof Given> {
  const given = attempt(name, ask);
  const checked = Given.safeParse(given);
  if (checked.success) return checked.data;
  throw failure(
    "MANIFEST_INVALID",
    `Provider "${name}" gives what cannot be used: ${describeIssue(Given, given, checked.error)}`,
  );
}

function attempt(name: string, ask: () => unknown): unknown {
  try {
    return ask();
  } catch (error) {
    throw failure("MANIFEST_INVALID", `Provider "${name}" fails: ${messageOf(error)}`, { cause: error });
  }
}
