import { defineCommand } from "../command.ts";
import { COMPLETION_SCRIPTS } from "../completion/scripts.ts";

export const command = defineCommand({
  words: ["completion"],
  summary: "Print a completion script for a shell",
  positionals: [{ name: "SHELL", description: "The shell", choices: ["bash", "zsh", "fish"] }],
  options: {},
  examples: [
    'eval "$(cloche completion bash)"',
    'eval "$(cloche completion zsh)"',
    "cloche completion fish > ~/.config/fish/completions/cloche.fish",
  ],
  async run(context) {
    const shell = context.argument("SHELL") as keyof typeof COMPLETION_SCRIPTS;
    const script = COMPLETION_SCRIPTS[shell];
    await context.print({ shell, script }, () => script);
    return 0;
  },
});
