import { takeStdout } from "../../mcp/protocol-stdout.ts";
import { defineCommand } from "../command.ts";
import { SERVE_OPTIONS } from "../serve-options.ts";

export const command = defineCommand({
  words: ["mcp", "serve"],
  summary: "Serve workspaces to a chat host or agent over MCP",
  description:
    "Speaks the Model Context Protocol on standard input and output. Started in a git checkout, new workspaces begin with its files. To connect a host, see `cloche host connect --help`.",
  positionals: [],
  options: SERVE_OPTIONS,
  examples: [
    "cloche mcp serve",
    "cloche mcp serve --mode repro-fix --project-path .",
    "cloche mcp serve --profile workspace-full --environment debian:12",
  ],
  async run({ values, io }) {
    // Before anything else is loaded, which might print.
    const stdout = takeStdout();
    try {
      const { serveOnStdio } = await import("../../mcp/stdio.ts");
      await serveOnStdio({
        profile: values.profile,
        mode: values.mode,
        project_path: values["project-path"],
        repo_url: values["repo-url"],
        repo_ref: values["repo-ref"],
        no_project_source: values["no-project-source"],
        environment: values.environment,
        backend: values.backend,
        cwd: io.cwd,
        write: (line) => stdout.write(line),
      });
      return 0;
    } finally {
      stdout.giveBack();
    }
  },
});
