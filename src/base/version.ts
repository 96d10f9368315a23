import { readFileSync } from "node:fs";

let known: string | undefined;

/** The version of this package, the same from `src/` and from `dist/`. */
export function packageVersion(): string {
  if (known === undefined) {
    const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    known = (JSON.parse(text) as { version: string }).version;
  }
  return known;
}
