import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { errnoOf } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import { type EnvironmentDefinition, type EnvironmentFamily, digestOf } from "./definition.ts";
import { NO_HOST_FOLDERS } from "./host-folders.ts";

const PREFIX = "smolmachine:";

/** A machine that smolvm has packed (`smolvm pack create`): used as it is, by backends that take such files. */
export function machineFileFamily(): EnvironmentFamily {
  return { prefix: PREFIX, form: `${PREFIX}FILE.smolmachine`, define: defineMachineFile };
}

function defineMachineFile(name: string): EnvironmentDefinition {
  const file = name.slice(PREFIX.length);
  return {
    name,
    description: "a machine packed by smolvm",
    packages: [],
    machineFile: file,
    hostFolders: () => NO_HOST_FOLDERS,
    digest: async () => {
      const { size, mtimeMs, ino } = await look(name, file);
      return digestOf(name, size, mtimeMs, ino);
    },
    build: () => Promise.resolve(),
  };
}

async function look(name: string, file: string): Promise<{ size: number; mtimeMs: number; ino: number }> {
  const notFound = (reason: string) =>
    failure("ENVIRONMENT_NOT_FOUND", `There is no environment "${name}": ${reason}`, {
      hint: "Give the path of a file that `smolvm pack create` has made",
    });
  if (!isAbsolute(file) || !file.endsWith(".smolmachine")) throw notFound("it names no .smolmachine file");
  try {
    const found = await stat(file);
    if (found.isFile()) return found;
  } catch (error) {
    if (errnoOf(error) !== "ENOENT" && errnoOf(error) !== "ENOTDIR") throw error;
  }
  throw notFound("the file is not there");
}
