import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { DockerEngine } from "../../docker-engine/engine.ts";
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
  const isOrphan = (directory: string | undefined) => directory !== undefined && !isNeeded(directory);
  try {
    for (const { Id, Labels } of await engine.listContainers(homeLabels(home), namePrefix(home))) {
      if (!isOrphan(directoryOf(Labels))) continue;
      log.warn("removing a container that belongs to no workspace", { container: Id });
      await engine.removeContainer(Id);
    }
    for (const { Name, Labels } of await engine.listVolumes(homeLabels(home)))
      if (isOrphan(directoryOf(Labels))) await engine.removeVolume(Name);
  } catch (error) {
    log.warn("cannot look for what was left in the Docker engine", { reason: messageOf(error) });
  }
}
