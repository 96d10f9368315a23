const NUL = 0x00;
const ID_BYTES = 20;
/** Some programs have written zeros before the mode. */
const FOLDER = /^0*40000 /;

interface Tree {
  files: number;
  readonly below: string[];
}

/**
 * How many paths there are in trees, from what they hold. A few trees that hold each other many times are more paths than there is memory for, so they are counted
 * before anybody lists them.
 */
export class TreeSizes {
  readonly #trees = new Map<string, Tree>();
  readonly #counted = new Map<string, number>();

  /** A tree as git stores it: mode, name, NUL and id of each entry. */
  add(id: string, content: Buffer): void {
    const tree: Tree = { files: 0, below: [] };
    for (let at = 0; at < content.length;) {
      const nul = content.indexOf(NUL, at);
      if (nul < 0) break;
      if (FOLDER.test(content.toString("latin1", at, at + 64)))
        tree.below.push(content.toString("hex", nul + 1, nul + 1 + ID_BYTES));
      else tree.files++;
      at = nul + 1 + ID_BYTES;
    }
    this.#trees.set(id, tree);
    this.#counted.clear();
  }

  /** Of the largest tree. One that was not given counts as one path: the upstream has it. */
  get largest(): number {
    let most = 0;
    for (const id of this.#trees.keys()) most = Math.max(most, this.#count(id));
    return most;
  }

  /** Without recursion: trees may be as deep as a client likes. */
  #count(first: string): number {
    const open = [first];
    for (let id = open.at(-1); id !== undefined; id = open.at(-1)) {
      const tree = this.#trees.get(id);
      const missing = tree?.below.filter((one) => this.#trees.has(one) && !this.#counted.has(one)) ?? [];
      if (missing.length > 0) {
        open.push(...new Set(missing));
        continue;
      }
      const below = tree?.below.reduce((sum, one) => sum + (this.#counted.get(one) ?? 1), 0) ?? 0;
      this.#counted.set(id, (tree?.files ?? 0) + below);
      open.pop();
    }
    return this.#counted.get(first) ?? 0;
  }
}
