import { closeSync, constants, accessSync, openSync, readFileSync, readSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import type { ProgramFiles } from "../contracts/environment.ts";
import type { AgentProgram, ProgramPackage } from "../model/provider.ts";

/** A program of an agent that this host has. */
export interface HostProgram {
  /** By which it was found. */
  readonly path: string;
  readonly files: Exclude<ProgramFiles, { readonly package: ProgramPackage }>;
  /** Null where its files do not say. */
  readonly version: string | null;
}

type Found = Omit<HostProgram, "path">;

/** The package of a program for this host's processor. */
export const packageHere = ({ packages }: Pick<AgentProgram, "packages">): ProgramPackage | undefined =>
  process.arch === "x64" || process.arch === "arm64" ? packages[process.arch] : undefined;

/** Looks along a PATH and at the places that the provider names. `searchPath` is that of whoever asks: the daemon's own may be older. */
export function findHostProgram(
  program: Pick<AgentProgram, "command" | "packages" | "places">,
  searchPath: string = process.env["PATH"] ?? "",
  home: string = homedir(),
): HostProgram | undefined {
  // A relative folder is another one for the daemon.
  const onPath = searchPath.split(":").filter(isAbsolute);
  const places = (program.places ?? []).map((place) => (place.startsWith("~/") ? join(home, place.slice(2)) : place));
  for (const path of [...onPath.map((folder) => join(folder, program.command)), ...places]) {
    const real = executableAt(path);
    const found = real === undefined ? undefined : look(real, packageHere(program));
    if (found) return { path, ...found };
  }
  return undefined;
}

function executableAt(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    const real = realpathSync(path);
    return statSync(real).isFile() ? real : undefined;
  } catch {
    return undefined;
  }
}

/** The package that the file is of, with all that it needs; else the file alone, when it is a binary; else the package that it is a wrapper of. */
function look(real: string, wanted: ProgramPackage | undefined): Found | undefined {
  const own = wanted && packageAround(real, wanted);
  if (own) return own;
  if (isBinary(real)) return { files: { path: real, file: basename(real) }, version: versionIn(basename(real)) };
  return wanted && packageBeside(real, wanted);
}

const namesOf = ({ name, installed_as: other }: ProgramPackage): string[] => [
  name,
  ...(other === undefined ? [] : [other]),
];

function packageAround(real: string, wanted: ProgramPackage): Found | undefined {
  const folder = parents(real).find((one) => relative(one, real) === wanted.file);
  return folder === undefined ? undefined : foundIn(folder, wanted);
}

/** As Node.js looks for a package: in `node_modules` of each folder above. */
function packageBeside(real: string, wanted: ProgramPackage): Found | undefined {
  const folders = parents(real).flatMap((one) => namesOf(wanted).map((name) => join(one, "node_modules", name)));
  for (const folder of folders) {
    if (executableAt(join(folder, wanted.file)) === undefined) continue;
    const found = foundIn(realpathSync(folder), wanted);
    if (found) return found;
  }
  return undefined;
}

function foundIn(folder: string, wanted: ProgramPackage): Found | undefined {
  try {
    const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, unknown>;
    if (typeof name !== "string" || !namesOf(wanted).includes(name)) return undefined;
    return {
      files: { path: folder, file: wanted.file },
      version: typeof version === "string" ? versionIn(version) : null,
    };
  } catch {
    return undefined;
  }
}

/** Of any form, it goes into a name: what does not fit there is no version. */
const versionIn = (text: string): string | null => /^\d+\.\d+\.\d+[0-9A-Za-z.+-]{0,64}$/.exec(text)?.[0] ?? null;

function parents(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...parents(parent)];
}

const ELF = "\x7fELF";

function isBinary(path: string): boolean {
  const head = Buffer.alloc(ELF.length);
  const file = openSync(path, "r");
  try {
    return readSync(file, head) === ELF.length && head.toString("latin1") === ELF;
  } finally {
    closeSync(file);
  }
}
