import type { HomelessSandbox } from "../../contracts/backend.ts";
import { homelessProcesses } from "../../walls/homeless.ts";
import { MachineProcess } from "./machine-process.ts";
import { CONTROL_PORT_NAME } from "./qemu-arguments.ts";

/** By the disk that an emulator has open, and by the port that only machines of ours have. */
export function findHomelessMachines(): HomelessSandbox[] {
  const isOurs = (argv: readonly string[]) => argv.some((word) => word.endsWith(`,name=${CONTROL_PORT_NAME}`));
  return homelessProcesses("disk", isOurs).map(({ process, place: { home, workspaceId } }) => ({
    home,
    workspaceId,
    remove: () => new MachineProcess(process).kill(),
  }));
}
