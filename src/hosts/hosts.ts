import { homedir } from "node:os";
import { join } from "node:path";
import type { HostName } from "../model/host.ts";
import type { Host, Table } from "./host.ts";
import type { Environment, ServerEntry } from "./server-entry.ts";

/** The hosts, as data: a further one is a further entry. */
export const HOST_TABLE: Readonly<Record<HostName, Host>> = {
  "claude-code": {
    name: "claude-code",
    title: "Claude Code",
    program: "claude",
    configPath: (env) => join(env["CLAUDE_CONFIG_DIR"] || homeOf(env), ".claude.json"),
    format: "json",
    table: "mcpServers",
    write: (entry) => ({ type: "stdio", ...writeCommandAndArgs(entry), env: entry.env }),
    read: (table) => (isStdio(table) ? readCommandAndArgs(table) : undefined),
    isOff: () => false,
    // The name stands first: `--env` takes every word up to the next option.
    addCommand: (name, entry) => ["mcp", "add", "--scope", "user", name, ...envFlags(entry), "--", ...wordsOf(entry)],
  },
  codex: {
    name: "codex",
    title: "Codex",
    program: "codex",
    configPath: (env) => join(env["CODEX_HOME"] || join(homeOf(env), ".codex"), "config.toml"),
    format: "toml",
    table: "mcp_servers",
    write: writeWithEnv,
    read: (table) => readCommandAndArgs(table),
    isOff: ({ enabled }) => enabled === false,
    addCommand: (name, entry) => ["mcp", "add", name, ...envFlags(entry), "--", ...wordsOf(entry)],
  },
  cursor: {
    name: "cursor",
    title: "Cursor",
    program: "cursor",
    configPath: (env) => join(homeOf(env), ".cursor", "mcp.json"),
    format: "jsonc",
    table: "mcpServers",
    write: writeWithEnv,
    read: (table) => (isStdio(table) ? readCommandAndArgs(table) : undefined),
    isOff: () => false,
  },
  opencode: {
    name: "opencode",
    title: "opencode",
    program: "opencode",
    configPath(env, exists) {
      const folder = join(env["XDG_CONFIG_HOME"] || join(homeOf(env), ".config"), "opencode");
      const commented = join(folder, "opencode.jsonc");
      return exists(commented) ? commented : join(folder, "opencode.json");
    },
    format: "jsonc",
    table: "mcp",
    write: (entry) => ({
      type: "local",
      command: wordsOf(entry),
      ...(hasEnv(entry) && { environment: entry.env }),
      enabled: true,
    }),
    read({ type, command, environment }) {
      const [program, ...args] = textsOf(command);
      return type === "local" && program !== undefined
        ? { command: program, args, env: pairsOf(environment) }
        : undefined;
    },
    isOff: ({ enabled }) => enabled === false,
  },
};

export const homeOf = (env: Environment): string => env["HOME"] || homedir();

export const wordsOf = ({ command, args }: ServerEntry): string[] => [command, ...args];

const hasEnv = ({ env }: ServerEntry): boolean => Object.keys(env).length > 0;

const writeCommandAndArgs = ({ command, args }: ServerEntry) => ({ command, args });

function writeWithEnv(entry: ServerEntry): Table {
  return { ...writeCommandAndArgs(entry), ...(hasEnv(entry) && { env: entry.env }) };
}

const isStdio = ({ type }: Table): boolean => type === undefined || type === "stdio";

function readCommandAndArgs({ command, args, env }: Table): ServerEntry | undefined {
  return typeof command === "string" ? { command, args: textsOf(args), env: pairsOf(env) } : undefined;
}

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

function pairsOf(value: unknown): Record<string, string> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]));
}

const envFlags = ({ env }: ServerEntry): string[] =>
  Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
