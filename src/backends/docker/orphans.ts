import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { DockerEngine } from "../../docker-engine/engine.ts";
import { isRefusal } from "../../docker-engine/engine-failure.ts";
import { directoryOf, homeLabels, namePrefix } from "./labels.ts";

/**
 * Removes what carries this home's label and belongs to no sandbox any more: left by a crash of the engine in the middle of making it, or by somebody who
 * removed the folder. Never rejects.
 */
export async function removeOrphans(
  engine: DockerEngine,
  home: string,
  isNeeded: (directory: string) => boolean,
  log: Log,
): Promise<void> {
  try {
    for (const { Id, Labels } of await engine.listContainers(homeLabels(home), namePrefix(home))) {
      const directory = directoryOf(Labels);
      if (directory === undefined || isNeeded(directory)) continue;
      log.warn("removing a container that belongs to no workspace", { container: Id });
      await engine.removeContainer(Id);
    }
    for (const { Name, Labels } of await engine.listVolumes(namePrefix(home))) {
      const directory = directoryOf(Labels);
      // An engine writes labels last: one that died before has a volume of that name and nothing else. It keeps those that a container has.
      if (directory === undefined || !isNeeded(directory)) await removeIfUnused(engine, Name);
    }
  } catch (error) {
    log.warn("cannot look for what was left in the Docker engine", { reason: messageOf(error) });
  }
}

async function removeIfUnused(engine: DockerEngine, volume: string): Promise<void> {
  try {
    await engine.removeVolume(volume);
  } catch (error) {
    if (!isRefusal(error, 409)) throw error;
  }
}
