import { lstatSync } from "node:fs";
import { join } from "node:path";
import { runBuildCommand } from "./build-process.ts";
import { digestOf, type BuildManner, type EnvironmentDefinition } from "./definition.ts";
import type { Programs } from "./programs.ts";
import { ADDED_PROGRAMS, type Rootfs } from "../contracts/environment.ts";

interface WithProgram {
  readonly base: EnvironmentDefinition;
  readonly programs: Programs;
  /** The name that it has among these. */
  readonly program: string;
  readonly ensure: (name: string, how: BuildManner) => Promise<Rootfs>;
}

/**
 * An environment and a program, as one tree of links to the files of both. So every backend has the program as it has the environment: behind the wall, read-only,
 * with nothing to mount or to copy at a start.
 */
export function withProgram(name: string, { base, programs, program, ensure }: WithProgram): EnvironmentDefinition {
  return {
    name,
    description: `${base.name} with ${program}`,
    packages: base.packages,
    hostFolders: () => base.hostFolders(),
    digest: async () => digestOf("with-program", await base.digest(), program),
    requireBuildable: async (idMap) => base.requireBuildable?.(idMap),
    async build(context) {
      const { rootfs, signal, progress } = context;
      const { root } = await ensure(base.name, context);
      const files = await programs.find(program);
      progress({ step: `adding ${program} to ${base.name}` });
      await link(root, rootfs, signal);
      await link(files, join(rootfs, ADDED_PROGRAMS), signal);
    },
  };
}

/** The same files under further names; only folders and links are new. */
async function link(from: string, to: string, signal: AbortSignal | undefined): Promise<void> {
  const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C.UTF-8" };
  const argv = ["cp", "--archive", "--link", "--no-target-directory", "--", from, to] as const;
  await runBuildCommand({ argv, env, signal, packages: "coreutils" });
}

const SYSTEM_PATH = ["usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin", "sbin", "bin"];

/** Whether a tree brings a command of that name. Links are not followed: what they name is the sandbox's business. */
export const hasCommand = (root: string, command: string): boolean =>
  SYSTEM_PATH.some((folder) => lstatSync(join(root, folder, command), { throwIfNoEntry: false }) !== undefined);
