import { failure } from "../model/error-codes.ts";

/** Of all targets together: they are remembered until the end. */
const MAX_TARGET_BYTES = 16 * 1024 * 1024;
/** Parts of targets that are walked, of all links together; a package manager's whole store has a twentieth of that. */
const MAX_STEPS = 4_000_000;
const STEPS_AT_ONCE = 20_000;

/** Where a walk is: a folder of the export, and so many folders below it that are not there. */
interface Place {
  readonly folder: string;
  readonly missing: number;
}

/** A loop leads nowhere, and so does what passes through it. */
type Destination = Place | "out" | "nowhere";

interface Walk {
  readonly link: string;
  readonly parts: readonly string[];
  next: number;
  place: Place;
}

/** The links of an export, and where they lead on the host. Paths and targets have one byte a character. */
export class ExportLinks {
  readonly #targets = new Map<string, string>();
  readonly #known = new Map<string, Destination>();
  readonly #isFolder: (path: string) => boolean;
  readonly #linkAround: (path: string) => string | undefined;
  #bytes = 0;
  #steps = 0;

  /** `linkAround`: where a link leads that is no part of the export, and that is there where the export goes to. */
  constructor(isFolder: (path: string) => boolean, linkAround: (path: string) => string | undefined = () => undefined) {
    this.#isFolder = isFolder;
    this.#linkAround = linkAround;
  }

  add(path: string, target: string): void {
    this.#bytes += target.length;
    // SECURITY: what is remembered of an export is bounded (G-10)
    if (this.#bytes > MAX_TARGET_BYTES) throw tooMany();
    this.#targets.set(path, target);
  }

  /**
   * Every link that leads out, once all of the export is known.
   * SECURITY: asked of the whole export, as the kernel would walk it there: a link that looks harmless may pass through another that is not (G-12).
   */
  async *leadingOut(): AsyncGenerator<{ readonly path: string; readonly target: string }> {
    let rested = 0;
    for (const [path, target] of this.#targets) {
      if (this.#follow(path) === "out") yield { path, target };
      if (this.#steps - rested < STEPS_AT_ONCE) continue;
      rested = this.#steps;
      await new Promise((done) => setImmediate(done));
    }
  }

  #targetOf(path: string): string | undefined {
    return this.#targets.get(path) ?? this.#linkAround(path);
  }

  /** One after the other and not by recursion: a chain may be as long as the export has links. */
  #follow(start: string): Destination {
    const walks: Walk[] = [];
    const under = new Set<string>();
    const begin = (link: string): void => {
      under.add(link);
      walks.push({ link, parts: (this.#targetOf(link) ?? "").split("/"), next: 0, place: above(link) });
    };
    if (!this.#known.has(start)) begin(start);
    for (let walk = walks.at(-1); walk !== undefined; walk = walks.at(-1)) {
      const found = this.#goOn(walk, under);
      if (typeof found === "object" && "through" in found) {
        begin(found.through);
        continue;
      }
      this.#known.set(walk.link, found);
      under.delete(walk.link);
      walks.pop();
    }
    return this.#known.get(start) ?? "nowhere";
  }

  #goOn(walk: Walk, under: ReadonlySet<string>): Destination | { readonly through: string } {
    // The host's root is not the sandbox's; and the one link of an export has nothing of it around itself.
    if (walk.parts[0] === "" || walk.link === "") return "out";
    for (; walk.next < walk.parts.length; walk.next++) {
      const part = walk.parts[walk.next] ?? "";
      if (++this.#steps > MAX_STEPS) throw tooMany();
      if (part === "" || part === ".") continue;
      const { folder, missing } = walk.place;
      if (part === "..") {
        if (missing === 0 && folder === "") return "out";
        walk.place = missing > 0 ? { folder, missing: missing - 1 } : above(folder);
        continue;
      }
      const path = folder === "" ? part : `${folder}/${part}`;
      if (missing === 0 && this.#targetOf(path) !== undefined) {
        const known = this.#known.get(path);
        if (known === undefined) return under.has(path) ? "nowhere" : { through: path };
        if (known === "out" || known === "nowhere") return known;
        walk.place = known;
      } else if (missing === 0 && this.#isFolder(path)) walk.place = { folder: path, missing };
      // What is not there may come to be, and so the walk goes on.
      else walk.place = { folder, missing: missing + 1 };
    }
    return walk.place;
  }
}

function above(path: string): Place {
  return { folder: path.slice(0, Math.max(0, path.lastIndexOf("/"))), missing: 0 };
}

function tooMany(): Error {
  return failure("TOO_MANY_ENTRIES", "Cannot export so many links at once", {
    hint: "Export a folder further down",
  });
}
