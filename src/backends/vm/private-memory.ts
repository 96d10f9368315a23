import { fileURLToPath } from "node:url";

/** What gives an emulator the template's memory for itself alone. The same place from `src/` and from `dist/`. */
export const PRIVATE_MEMORY = fileURLToPath(new URL("../../../build/guest/private-memory.so", import.meta.url));
