import { GUEST_FOLDER, type GuestLayers, layerTargets } from "../../walls/sandbox-layout.ts";

/** Where `cloche-guest wall` has put the layers, in its own mount namespace. */
export const STAGE = "/run";
/** The listening socket that the launcher passes on. */
export const LISTEN_FD = 3;

/** After it the launcher passes the layers, and the lock on the sandbox's ids. */
const LAYERS_FD = LISTEN_FD + 1;

const descriptor = (number: number): string => `/proc/self/fd/${number}`;

/** The layers as a guest program has them that inherits descriptors. */
export const passedLayers = (layers: readonly string[]): GuestLayers => ({
  upper: descriptor(LAYERS_FD),
  baseline: descriptor(LAYERS_FD + 1),
  layers: layers.map((_, index) => descriptor(LAYERS_FD + 2 + index)),
});

/** How many descriptors from `LISTEN_FD` on a guest program inherits: the socket, the layers, the lock. */
export const passedCount = (layers: readonly string[]): number => layers.length + 4;

/** Folders of the host: where the launcher has put its overlay of each, and where the sandbox has it. */
export const hostFolderMounts = (hostPaths: readonly string[]): { source: string; target: string }[] =>
  hostPaths.map((target, index) => ({ source: `${STAGE}/host/${index}`, target }));

/** All layers: where the launcher staged them, and where a guest program finds them that inherits nothing. */
export const layerMounts = (layers: readonly string[]): { source: string; target: string }[] => [
  ...["upper", "baseline"].map((name) => ({ source: `${STAGE}/${name}`, target: `${GUEST_FOLDER}/${name}` })),
  ...layerTargets(layers).map((target, index) => ({ source: `${STAGE}/layers/${index}`, target })),
];
