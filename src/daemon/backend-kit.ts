import type { Backend } from "../contracts/backend.ts";
import { type BackendSurroundings, composeWith } from "./compose.ts";
import { executeDaemon } from "./execute.ts";

/** What `import … from "cloche/backend"` gives: what a backend implements, what helps with that, and a daemon that has it. */
export type * from "../contracts/backend.ts";
export type { Rootfs } from "../contracts/environment.ts";
export { GuestClient } from "../guest/client.ts";
export { GuestFiles } from "../guest/files.ts";
export { guestProgram } from "../walls/guest-program.ts";
export { copyUnmapped, packLayer, unpackLayer } from "../walls/layer-stream.ts";
export type { BackendSurroundings } from "./compose.ts";

/**
 * Runs the daemon with further backends. For a program of your own: `new Cloche({ daemonProgram })` starts it instead of the built-in
 * daemon. Resolves when the daemon has ended.
 */
export async function runDaemonWith(
  backends: (surroundings: BackendSurroundings) => readonly Backend[],
): Promise<void> {
  await executeDaemon(process.argv.slice(2), composeWith(backends));
}
