import type { ByteText } from "./byte-text.ts";

/** Finds runs of lines in a text. Made at the first search, for all that follow. */
export class LineIndex {
  readonly #lines: readonly ByteText[];
  #places: Map<ByteText, number[]> | undefined;

  constructor(lines: readonly ByteText[]) {
    this.#lines = lines;
  }

  matches(run: readonly ByteText[], at: number): boolean {
    return at + run.length <= this.#lines.length && run.every((line, offset) => this.#lines[at + offset] === line);
  }

  /** Up to two places from `from` on where the run is: one is unique, two are too many. */
  find(run: readonly ByteText[], from: number): number[] {
    const rare = this.#rarest(run);
    const found: number[] = [];
    for (const place of rare.places) {
      const at = place - rare.offset;
      if (at >= from && this.matches(run, at)) found.push(at);
      if (found.length === 2) break;
    }
    return found;
  }

  #rarest(run: readonly ByteText[]): { offset: number; places: readonly number[] } {
    const index = (this.#places ??= this.#build());
    let best = { offset: 0, places: index.get(run[0] ?? "") ?? [] };
    for (const [offset, line] of run.entries()) {
      const places = index.get(line) ?? [];
      if (places.length < best.places.length) best = { offset, places };
    }
    return best;
  }

  #build(): Map<ByteText, number[]> {
    const index = new Map<ByteText, number[]>();
    for (const [place, line] of this.#lines.entries()) {
      const places = index.get(line);
      if (places) places.push(place);
      else index.set(line, [place]);
    }
    return index;
  }
}
