import type { HomelessSandbox } from "../../contracts/backend.ts";
import { Cgroups } from "../../walls/cgroup.ts";
import { type HomelessProcess, homelessProcesses } from "../../walls/homeless.ts";
import { LOG_NAME, WallProcess } from "./wall-process.ts";

/** Standard output and standard error of a wall. */
const CHANNELS = 2;

/** By the log that the processes of a wall write to, and by what they are told. */
export function findHomelessWalls(): HomelessSandbox[] {
  const found = homelessProcesses(LOG_NAME, (argv, { workspaceId }, count) => {
    const named = argv.indexOf("--hostname");
    return count === CHANNELS && named > 0 && argv[named + 1] === workspaceId;
  });
  const walls = new Map<string, HomelessProcess[]>();
  for (const one of found) {
    const key = `${one.place.home} ${one.place.sandboxName}`;
    walls.set(key, [...(walls.get(key) ?? []), one]);
  }
  return [...walls.values()].flatMap((processes) => {
    const [first] = processes;
    return first ? [toSandbox(first, processes)] : [];
  });
}

function toSandbox({ place }: HomelessProcess, processes: readonly HomelessProcess[]): HomelessSandbox {
  const { home, workspaceId, sandboxName } = place;
  return {
    home,
    workspaceId,
    async remove() {
      for (const { process } of processes) await new WallProcess(process, []).kill();
      await Cgroups.detect(home).remove(sandboxName);
    },
  };
}
