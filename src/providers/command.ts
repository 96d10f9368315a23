import type { AgentTask, Provider } from "../model/provider.ts";
import { checkSettings, textsSetting } from "./settings.ts";

/** Any program. `{prompt}` in its words becomes the task, `{prompt_file}` the file with the agent's instructions. */
export const command: Provider = {
  name: "command",
  summary: "any program, by its command line",
  skills_folder: ".cloche/skills",
  error_shape: null,
  check(choice) {
    if (choice.auth_token !== null)
      return '"auth_token" has no meaning for a command; give a route of the bottle `auth` with `token_ref`';
    const problem = checkSettings(choice, { argv: "texts" });
    if (problem !== undefined) return problem;
    return textsSetting(choice, "argv")[0] ? undefined : '"settings.argv" must be a list of texts, the program first';
  },
  program: (choice) => ({
    command: textsSetting(choice, "argv")[0] ?? "",
    packages: {},
    interpreter: null,
  }),
  credentials: () => [],
  routes: () => [],
  env: (task) => (task.supervise_url === null ? {} : { MCP_SUPERVISE_URL: task.supervise_url }),
  files: () => [],
  argv: (task) => textsSetting(task.choice, "argv").flatMap((word) => filled(word, task)),
};

/** A word that is nothing but a place for what is not there is left out. */
function filled(word: string, { prompt, prompt_file: promptFile, home }: AgentTask): string[] {
  if ((word === "{prompt_file}" && promptFile === null) || (word === "{prompt}" && prompt === null)) return [];
  const values: Readonly<Record<string, string>> = {
    "{prompt}": prompt ?? "",
    // The file is there also when it is empty.
    "{prompt_file}": promptFile ?? `${home}/.cloche/prompt.txt`,
  };
  // In one pass: a task that speaks of `{prompt_file}` is left as it is.
  return [word.replace(/\{prompt(?:_file)?\}/g, (place) => values[place] ?? place)];
}
