import { join } from "node:path";
import { writeFileAtomic } from "../base/atomic-write.ts";
import { messageOf } from "../base/errors.ts";
import { readPlainFile } from "../base/read-plain-file.ts";
import type { Bottle } from "../model/bottle.ts";
import type { Route } from "../model/egress.ts";
import { failure } from "../model/error-codes.ts";
import type { ProposedRoute } from "../model/proposal.ts";
import { checkBottle } from "../policy/bottles/check-definition.ts";
import { editRoutes } from "../policy/bottles/edit-routes.ts";
import { parseFrontMatter } from "../policy/bottles/front-matter.ts";
import { mergeBottles } from "../policy/bottles/merge-bottles.ts";
import { areReached } from "../policy/supervise/already-reached.ts";
import { coversPattern, mergeRoutes, routesFor, shadowed } from "../policy/supervise/merge-routes.ts";
import { bottlesFolder, manifestFiles } from "./manifest-files.ts";

const MAX_BYTES = 1024 * 1024;

/** The file of a bottle, and what of it decides for some hosts. */
export interface BottleRoutes {
  readonly name: string;
  readonly path: string;
  /** With those of its parents. */
  readonly routes: readonly Route[];
}

/** Undefined where there is no such file, or none that can be used. */
export function findBottleRoutes(
  home: string,
  name: string,
  proposed: readonly ProposedRoute[],
): BottleRoutes | undefined {
  try {
    const all = mergedRoutes(home, name);
    return { name, path: join(bottlesFolder(home), `${name}.md`), routes: routesFor(all, proposed) };
  } catch {
    return undefined; // of an object of the SDK's, removed, or broken: what is approved is not written there
  }
}

/** Writes a bottle's file. Gives what puts back what was there. */
export type BottleWrite = () => Promise<() => Promise<void>>;

/** What a bottle's file would be with more routes. Throws what is in the way, before anything is written; gives what writes it. */
export function prepareBottleRoutes(home: string, name: string, proposed: readonly ProposedRoute[]): BottleWrite {
  const path = join(bottlesFolder(home), `${name}.md`);
  const text = readPlainFile(path, MAX_BYTES).toString("utf8");
  const own = readBottle(path, text).egress?.routes ?? [];
  const all = mergedRoutes(home, name);
  // The user's file stays as they wrote it where nothing would be added.
  if (areReached(proposed, all)) return () => Promise.resolve(() => Promise.resolve());
  // A route of a bottle's takes the place of its parents' for the same host, so it begins with what those have.
  const based = mergeRoutes(all, proposed, undefined);
  const wanted = [...own];
  for (const { host } of proposed) {
    const route = based.find((one) => one.host === host);
    if (!route) continue;
    const at = wanted.findIndex((one) => one.host === host);
    const wider = wanted.findIndex((one) => coversPattern(one.host, host));
    if (at >= 0) wanted[at] = route;
    else wanted.splice(wider < 0 ? wanted.length : wider, 0, route);
  }
  const next = editRoutes(text, wanted);
  requireRight({ home, name, path, next }, wanted, proposed);
  return async () => {
    try {
      await writeFileAtomic(path, next);
    } catch (error) {
      throw failure("MANIFEST_INVALID", `Cannot write "${path}": ${messageOf(error)}`, {
        hint: "Make it writable, or approve it for this run alone",
      });
    }
    return () => writeFileAtomic(path, text);
  };
}

/** What was written is read back: it says what was meant, and it is used. */
function requireRight(
  { home, name, path, next }: { home: string; name: string; path: string; next: string },
  wanted: readonly Route[],
  proposed: readonly ProposedRoute[],
): void {
  const written = readBottle(path, next);
  if (JSON.stringify(written.egress?.routes) !== JSON.stringify(wanted))
    throw failure("MANIFEST_INVALID", `Cannot write the routes into "${path}" without changing something else`, {
      hint: `Write them yourself with \`cloche edit ${name}\`, and approve it for this run alone`,
    });
  const manifest = manifestFiles(home, home);
  const merged = mergeBottles([name], (one, child) => (one === name ? written : manifest.bottle(one, child)));
  const hidden = shadowed(merged.bottle.egress?.routes ?? [], proposed);
  if (hidden)
    throw failure(
      "MANIFEST_INVALID",
      `A route for ${hidden.host} in "${path}" would never be used: the one for ${hidden.by} of a parent stands before it`,
      { hint: `Change the parent with \`cloche edit\`, and approve it for this run alone` },
    );
}

function mergedRoutes(home: string, name: string): readonly Route[] {
  const manifest = manifestFiles(home, home);
  return mergeBottles([name], (one, child) => manifest.bottle(one, child)).bottle.egress?.routes ?? [];
}

function readBottle(path: string, text: string): Bottle {
  const parsed = parseFrontMatter(text);
  if ("problem" in parsed)
    throw failure("MANIFEST_INVALID", `Cannot use "${path}", line ${parsed.line}: ${parsed.problem}`);
  const checked = checkBottle(parsed.value);
  if ("problem" in checked) throw failure("MANIFEST_INVALID", `Cannot use "${path}": ${checked.problem}`);
  return checked.definition;
}
