import type { ProgramFiles, ProgramSource } from "../contracts/environment.ts";
import { addedProgram, layeredName } from "../contracts/environment.ts";
import type { BottlePlan } from "../model/bottle-plan.ts";
import { DEFAULTS } from "../model/config.ts";
import { failure } from "../model/error-codes.ts";
import type { AgentProgram, ProgramPackage } from "../model/provider.ts";
import { findHostProgram, packageHere } from "./host-program.ts";

/**
 * Where the program of an agent comes from: in the environment `host` it is the one that this host has, elsewhere the package that its provider names. Undefined for a
 * program that has no package: that one is the environment's own.
 */
export function chooseProgram(
  { environment, agent_provision: { program } }: Pick<BottlePlan, "environment" | "agent_provision">,
  searchPath: string | undefined,
): ProgramSource | undefined {
  if (!hasPackages(program)) return undefined;
  return environment === DEFAULTS.environment ? ofHost(program, searchPath) : ofPackage(program);
}

const hasPackages = ({ packages }: AgentProgram): boolean => Object.values(packages).some((one) => one !== undefined);

function ofHost(program: AgentProgram, searchPath: string | undefined): ProgramSource {
  const { command, interpreter } = program;
  const found = findHostProgram(program, searchPath);
  if (!found) throw missing(program, command);
  const { files, version } = found;
  const runner = interpreter && findHostProgram(interpreter, searchPath);
  if (interpreter && !runner) throw missing(program, interpreter.command);
  return {
    command,
    version,
    isOfHost: true,
    files,
    interpreter: interpreter && runner ? { command: interpreter.command, files: runner.files } : null,
  };
}

function missing({ command, install, packages }: AgentProgram, name: string): Error {
  const own =
    name === command && install !== undefined ? `Install it with \`${install}\`, or name` : "Install it, or name";
  const elsewhere =
    packageHere({ packages }) === undefined
      ? "another environment that has it"
      : `${DEFAULTS.machine_environment} as \`environment\` of the bottle: there ${command} comes from its package`;
  return failure("AGENT_PROGRAM_NOT_FOUND", `There is no program "${name}" on this host`, {
    hint: `${own} ${elsewhere}`,
  });
}

function ofPackage({ command, packages, interpreter }: AgentProgram): ProgramSource {
  const own = requirePackage(command, packages);
  return {
    command,
    version: own.version,
    isOfHost: false,
    files: { package: own },
    interpreter: interpreter && {
      command: interpreter.command,
      files: { package: requirePackage(interpreter.command, interpreter.packages) } satisfies ProgramFiles,
    },
  };
}

function requirePackage(command: string, packages: AgentProgram["packages"]): ProgramPackage {
  const found = packageHere({ packages });
  if (found) return found;
  throw failure("AGENT_PROGRAM_NOT_FOUND", `There is no package of "${command}" for this processor (${process.arch})`, {
    hint: `Use an environment that has ${command}`,
  });
}

/** The command in an environment: what was added to it is called by its path, since the system may have another of that name. */
export function commandIn(
  environment: string,
  { argv, program }: Pick<BottlePlan["agent_provision"], "argv" | "program">,
): readonly string[] {
  if (!layeredName(environment) || argv[0] !== program.command) return argv;
  return [addedProgram(program.command), ...argv.slice(1)];
}
