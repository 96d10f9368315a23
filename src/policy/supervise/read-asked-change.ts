import { BadArguments, readList, readText } from "./read-arguments.ts";

const MOST = 64;
const MAX_STEP = 4096;
const PACKAGE = /^[a-z0-9][a-z0-9+.:~=-]{0,127}$/i;

export interface AskedChange {
  packages?: string[];
  steps?: string[];
}

/** What an agent wants its environment to have, as the queue takes it. Throws `BadArguments`. */
export function readAskedChange(packages: unknown, steps: unknown): AskedChange {
  const names = readList(packages, "packages", MOST, readPackage) ?? [];
  const commands = readList(steps, "steps", MOST, (step, where) => readText(step, where, MAX_STEP)) ?? [];
  if (names.length + commands.length === 0)
    throw new BadArguments(
      "It names no package and no step",
      'Give "packages" of the environment\'s package manager, or "steps" as shell commands',
    );
  return { ...(names.length > 0 && { packages: names }), ...(commands.length > 0 && { steps: commands }) };
}

function readPackage(value: unknown, where: string): string {
  if (typeof value === "string" && PACKAGE.test(value)) return value;
  throw new BadArguments(
    `"${where}" is no name of a package`,
    "Give names as the package manager takes them, as in jq",
  );
}
