import type { McpToken } from "../../model/health.ts";
import { usageError } from "../arguments/usage-error.ts";
import { defineCommand } from "../command.ts";
import { formatPairs } from "../output/table.ts";

const WORDS = ["mcp", "token"] as const;

export const command = defineCommand({
  words: WORDS,
  summary: "Show an address and a token for MCP over HTTP that last",
  description: [
    "For clients with a fixed configuration. The token is made when there is none, and kept in the cloche home together with the port; the next daemon listens there again. A daemon with such a token does not end by itself.",
    "mcp.port in config.yaml chooses the port. Programs of other users are refused also with the token. Who has it reaches what the options in the address say, so treat it as a password.",
  ].join("\n"),
  positionals: [],
  options: {
    config: { type: "boolean", description: "Print an entry for a client's mcpServers in place of it" },
    rotate: { type: "boolean", description: "Make another token; the old one is worth nothing at once" },
    revoke: { type: "boolean", description: "End the token and disconnect who uses it" },
  },
  examples: [
    "cloche mcp token",
    "cloche mcp token --json | jq -r .token",
    "cloche mcp token --config",
    "cloche mcp token --rotate",
    "cloche mcp token --revoke",
  ],
  async run(context) {
    const { rotate, revoke, config } = context.values;
    if (revoke && (rotate || config)) throw usageError(WORDS, "--revoke goes with neither --rotate nor --config");
    const action = revoke ? "revoke" : rotate ? "rotate" : "show";
    const told = await (await context.connect()).mcpToken({ action });
    await context.print(config ? entryOf(told) : told, () => {
      if (revoke) return "Revoked the token";
      return config ? JSON.stringify(entryOf(told), null, 2) : formatPairs(pairsOf(told)).join("\n");
    });
    return 0;
  },
});

const pairsOf = ({ url, token }: McpToken) => [["url", url ?? ""] as const, ["token", token ?? ""] as const];

const entryOf = ({ url, token }: McpToken) => ({
  mcpServers: { cloche: { type: "http", url, headers: { Authorization: `Bearer ${token}` } } },
});
