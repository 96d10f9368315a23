import { GUEST_FOLDER, type GuestLayers, layerTargets } from "../../walls/sandbox-layout.ts";

/** Where `cloche-guest wall` has put the layers, in its own mount namespace. */
export const STAGE = "/run";
/** SECURITY: the launcher's own, because those that a wall mounts have no limit (G-26). */
export const TERMINALS = `${STAGE}/terminals`;
/** The listening socket that the launcher passes on. */
const LISTEN_FD = 3;

/** After it the launcher passes the layers, the lock on the sandbox's ids, and the file by which a command joins the commands' cgroup, where there is one. */
const LAYERS_FD = LISTEN_FD + 1;
const commandsDescriptor = (layers: readonly string[]): number => LAYERS_FD + layers.length + 3;

/** What tells the guest program of the descriptors that the launcher passes on, but for the layers. */
export const inheritedArguments = (layers: readonly string[], commandsApart: boolean): string[] => [
  "--listen-fd",
  String(LISTEN_FD),
  ...(commandsApart ? ["--commands-fd", String(commandsDescriptor(layers))] : []),
];

const descriptor = (number: number): string => `/proc/self/fd/${number}`;

/** The layers as a guest program has them that inherits descriptors. */
export const passedLayers = (layers: readonly string[]): GuestLayers => ({
  upper: descriptor(LAYERS_FD),
  baseline: descriptor(LAYERS_FD + 1),
  layers: layers.map((_, index) => descriptor(LAYERS_FD + 2 + index)),
});

/** How many descriptors from `LISTEN_FD` on a guest program inherits. */
export const passedCount = (layers: readonly string[]): number => commandsDescriptor(layers) + 1 - LISTEN_FD;

/** Folders of the host: where the launcher has put its overlay of each, and where the sandbox has it. */
export const hostFolderMounts = (hostPaths: readonly string[]): { source: string; target: string }[] =>
  hostPaths.map((target, index) => ({ source: `${STAGE}/host/${index}`, target }));

/** All layers: where the launcher staged them, and where a guest program finds them that inherits nothing. */
export const layerMounts = (layers: readonly string[]): { source: string; target: string }[] => [
  ...["upper", "baseline"].map((name) => ({ source: `${STAGE}/${name}`, target: `${GUEST_FOLDER}/${name}` })),
  ...layerTargets(layers).map((target, index) => ({ source: `${STAGE}/layers/${index}`, target })),
];
