import { createHash } from "node:crypto";
import type { Labels } from "../../docker-engine/engine.ts";
import { placeOf, type SandboxPlace } from "../../walls/homeless.ts";

/** Labels are on everything that is made in an engine, so that nothing is ever left there that cannot be told apart. */
const HOME = "cloche.home";
const WORKSPACE = "cloche.workspace";
const DIRECTORY = "cloche.directory";

/** Two homes may share one engine: each knows its own by this. */
export const homeId = (home: string): string => createHash("sha256").update(home).digest("hex").slice(0, 10);

/** Names of the containers and volumes of a home begin with it. */
export const namePrefix = (home: string): string => `cloche-${homeId(home)}-`;

export const containerName = (home: string, sandboxName: string): string => `${namePrefix(home)}${sandboxName}`;

export const homeLabels = (home: string): Labels => ({ [HOME]: homeId(home) });

export const containerLabels = (home: string, sandboxName: string, directory: string): Labels => ({
  ...homeLabels(home),
  [WORKSPACE]: sandboxName,
  [DIRECTORY]: directory,
});

/**
 * Whose a container is, of whatever home.
 * SECURITY: its name and all of its labels have to be those that one home gives to one sandbox (G-81)
 */
export function sandboxOf(name: string, labels: Labels): SandboxPlace | undefined {
  const place = placeOf(directoryOf(labels) ?? "");
  if (!place || name !== containerName(place.home, place.sandboxName)) return undefined;
  const expected = containerLabels(place.home, place.sandboxName, directoryOf(labels) ?? "");
  return Object.entries(expected).every(([label, value]) => labels[label] === value) ? place : undefined;
}

/** What is of a home, whichever it is. */
export const ANY_PREFIX = "cloche-";
export const EVERY_HOME = { [HOME]: undefined };

/** The folder of the sandbox that something belongs to. */
export const directoryOf = (labels: Labels | null): string | undefined => labels?.[DIRECTORY];
