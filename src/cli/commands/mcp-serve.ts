import { takeStdout } from "../../mcp/protocol-stdout.ts";
import { defineCommand } from "../command.ts";
import { SERVE_OPTIONS, serverOptions } from "../arguments/serve-options.ts";

export const command = defineCommand({
  words: ["mcp", "serve"],
  summary: "Serve workspaces to a chat host or agent over MCP",
  description: [
    "Speaks the Model Context Protocol on standard input and output. Started in a git checkout, new workspaces begin with its files. To connect a host, see `cloche host connect --help`.",
    "Of this host the tools reach the project and no more: they read what git does not ignore, export to new paths in one folder, make workspaces of `host` and `debian:*`, and see those of their project's servers. The --allow options widen it.",
  ].join("\n"),
  positionals: [],
  options: SERVE_OPTIONS,
  examples: [
    "cloche mcp serve",
    "cloche mcp serve --mode repro-fix --project-path .",
    "cloche mcp serve --profile workspace-full --environment debian:12",
    "cloche mcp serve --output-dir ~/taken-out --allow-read ~/code/shared",
  ],
  async run({ values, io }) {
    // Before anything else is loaded, which might print.
    const stdout = takeStdout();
    try {
      const { serveOnStdio } = await import("../../mcp/stdio.ts");
      await serveOnStdio({
        ...serverOptions(values),
        cwd: io.cwd,
        write: (line) => stdout.write(line),
      });
      return 0;
    } finally {
      stdout.giveBack();
    }
  },
});
