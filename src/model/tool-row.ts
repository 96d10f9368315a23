/** How agents have an operation over MCP. */
export interface ToolRow {
  /** The tool's name; its file is `src/mcp/tools/` and the name with dashes. */
  readonly tool: string;
  /** The smallest of the workspace profiles that has it. */
  readonly profile: "core" | "full";
  /**
   * SECURITY: how far the tool's call reaches (G-23). `workspace`: into the one workspace that its first argument names, and nowhere else. `decided`: also
   * somewhere else, so that `src/mcp/scope/` has code that judges it.
   */
  readonly reach: "workspace" | "decided";
}
