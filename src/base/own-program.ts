import { fileURLToPath } from "node:url";

/** The program in C that comes with the package. The same place from `src/` and from `dist/`. */
export const OWN_PROGRAM = fileURLToPath(new URL("../../build/guest/cloche-guest", import.meta.url));
