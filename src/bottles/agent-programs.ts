import type { AgentHealth } from "../model/health.ts";
import { BUILT_IN_PROVIDERS } from "../providers/built-in-providers.ts";
import { findHostProgram, packageHere } from "./host-program.ts";

/** The agents that come with cloche, and where this host has their programs. Looks at files, and starts nothing. */
export function agentPrograms(searchPath?: string): AgentHealth[] {
  return [...BUILT_IN_PROVIDERS.values()].flatMap((provider) => {
    const program = provider.program({ auth_token: null, settings: {} });
    if (program.command === "") return []; // any program, by its command line
    const found = findHostProgram(program, searchPath);
    const packaged = packageHere(program);
    return [
      {
        name: provider.name,
        program: program.command,
        path: found?.path ?? null,
        version: found?.version ?? null,
        package: packaged ? `${packaged.name}@${packaged.version}` : null,
        hint: found || program.install === undefined ? null : `Install it with \`${program.install}\``,
      },
    ];
  });
}
