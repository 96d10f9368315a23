import type { Colours } from "../output/colour.ts";

/** A unified patch with the usual colours. */
export function colourPatch(patch: string, { bold, red, green, cyan }: Colours): string {
  return patch
    .split("\n")
    .map((line) => {
      if (/^(diff |index |--- |\+\+\+ |new file|deleted file|old mode|new mode|rename |similarity )/.test(line))
        return bold(line);
      if (line.startsWith("@@")) return cyan(line);
      if (line.startsWith("+")) return green(line);
      return line.startsWith("-") ? red(line) : line;
    })
    .join("\n");
}
