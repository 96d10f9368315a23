import { AGENT } from "./names.ts";
import type { Command } from "./exec.ts";

/** Where commands are looked for. SECURITY: what any command can write comes last, so that none plants a program for a later one that gets secrets under a name of the system's (G-17). */
export const COMMAND_FOLDERS: readonly string[] = [
  ...["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"],
  `${AGENT.home}/.local/bin`,
];
const PATH = COMMAND_FOLDERS.join(":");

/** The whole environment of a command: nothing of the host's comes along. */
export function commandEnvironment(
  extra: Readonly<Record<string, string>> | undefined,
  hasTerminal: boolean,
): Record<string, string> {
  return {
    PATH,
    HOME: AGENT.home,
    USER: AGENT.name,
    LOGNAME: AGENT.name,
    SHELL: "/bin/sh",
    LANG: "C.UTF-8",
    ...(hasTerminal && { TERM: "xterm-256color" }),
    ...extra,
  };
}

/** A string is a shell command, an array is run as it is. */
export const toArgv = (command: Command): string[] =>
  typeof command === "string" ? ["/bin/sh", "-c", command] : command;
