import { fileURLToPath } from "node:url";

/** Where a file of this package is, by its path in it. Right in `src/`, in `dist/` and in a bundle, all of which are as deep. */
export const packageFile = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
