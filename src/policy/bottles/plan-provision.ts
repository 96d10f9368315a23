import type { AgentProvision, BottleSpec, PlannedAgent, StandIn } from "../../model/bottle-plan.ts";
import { AGENT, WORKSPACE_ROOT } from "../../model/names.ts";
import type { AgentTask, Provider, ProviderChoice } from "../../model/provider.ts";
import { askProgram, askProvision } from "./provider-answers.ts";

/** Where the prompt of every agent is. */
export const PROMPT_FILE = `${AGENT.home}/.cloche/prompt.txt`;

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
  const { argv, env, files } = askProvision(provider, task);
  const shown = new Set(provider.shown_env);
  return {
    provider: provider.name,
    choice,
    program: askProgram(provider, choice),
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
