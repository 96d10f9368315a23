import type { HomelessSandbox } from "../../contracts/backend.ts";
import type { DockerEngine } from "../../docker-engine/engine.ts";
import { isGone } from "../../walls/homeless.ts";
import { ANY_PREFIX, directoryOf, EVERY_HOME, sandboxOf } from "./labels.ts";

/** By their names and labels, of an engine that is on this host. */
export async function findHomelessContainers(engine: DockerEngine): Promise<HomelessSandbox[]> {
  const found = await engine.listContainers(EVERY_HOME, ANY_PREFIX);
  return found.flatMap(({ Id, Names, Labels }) => {
    const name = Names[0]?.slice(1) ?? "";
    const place = sandboxOf(name, Labels);
    if (!place || !isGone(place.home)) return [];
    const directory = directoryOf(Labels);
    return [
      {
        home: place.home,
        workspaceId: place.workspaceId,
        async remove() {
          await engine.removeContainer(Id);
          for (const volume of await engine.listVolumes(name))
            if (directoryOf(volume.Labels) === directory) await engine.removeVolume(volume.Name);
        },
      },
    ];
  });
}
