import type { WallSpec } from "../../contracts/backend.ts";
import { allKernelFiles, guestCommand, tmpfsBytes } from "../../walls/sandbox-layout.ts";
import { inheritedArguments, passedLayers } from "./stage.ts";

/** What tells the launcher to make the wall itself. */
export const enclosureOptions = (spec: WallSpec): string[] => [
  "--hostname",
  spec.hostname,
  "--memory",
  String(tmpfsBytes(spec.limits)),
];

/** The guest program's command line behind a wall of the launcher's. */
export const enclosedGuest = (spec: WallSpec, commandsApart: boolean): string[] => [
  ...guestCommand(spec.hostname, passedLayers(spec.layers), ...inheritedArguments(spec.layers, commandsApart)),
  // SECURITY: it may mount until it has started, and masks the kernel's files itself (G-07).
  ...allKernelFiles().flatMap((path) => ["--mask", path]),
];
