import { fileURLToPath } from "node:url";

/** The guest program; it is also the host's tool for what has to be done as a sandbox's root. The same place from `src/` and from `dist/`. */
export const GUEST_PROGRAM = fileURLToPath(new URL("../../build/guest/cloche-guest", import.meta.url));
