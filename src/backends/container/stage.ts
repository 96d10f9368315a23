import { layerTargets } from "../../walls/sandbox-layout.ts";

/** Where `cloche-guest wall` has put the layers, in its own mount namespace. */
export const STAGE = "/run";
/** SECURITY: the launcher's own, because those that a wall mounts have no limit (G-26). */
export const TERMINALS = `${STAGE}/terminals`;
/** The listening socket that the launcher passes on. */
const LISTEN_FD = 3;
/** The file by which a command joins the commands' cgroup, where there is one. */
const COMMANDS_FD = 4;

/** What tells the guest program of the descriptors that the launcher passes on. */
export const inheritedArguments = (commandsApart: boolean): string[] => [
  "--listen-fd",
  String(LISTEN_FD),
  ...(commandsApart ? ["--commands-fd", String(COMMANDS_FD)] : []),
];

/** The layers over the baseline, bottom first: where the launcher staged them, and where the guest program finds them. */
export const layerMounts = (layers: readonly string[]): { source: string; target: string }[] =>
  layerTargets(layers).map((target, index) => ({ source: `${STAGE}/layers/${index}`, target }));
