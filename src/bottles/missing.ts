import { failure } from "../model/error-codes.ts";
import { MANIFEST_NAME } from "../model/vocabulary.ts";
import type { NamedDefinition } from "./manifest.ts";

const MOST_NAMES = 20;

export function agentMissing(name: string, there: readonly NamedDefinition[], places: string): Error {
  return failure("AGENT_NOT_FOUND", `There is no agent "${name}"${places}`, {
    hint: hintFor(name, "agent", there),
  });
}

export function bottleMissing(name: string, child: string | undefined, there: readonly NamedDefinition[]): Error {
  const message =
    child === undefined
      ? `There is no bottle "${name}"`
      : `Bottle "${child}" extends "${name}", and there is no such bottle`;
  return failure("BOTTLE_NOT_FOUND", message, { hint: hintFor(name, "bottle", there) });
}

function hintFor(name: string, kind: string, there: readonly NamedDefinition[]): string {
  if (!MANIFEST_NAME.test(name))
    return `The name of ${kind === "agent" ? "an agent" : "a bottle"} is lower-case letters, digits and '-', and starts with a letter`;
  if (there.length === 0) return "Make a first bottle and a first agent with `cloche init`";
  const names = there.slice(0, MOST_NAMES).map((one) => one.name);
  return `There ${names.length === 1 ? "is" : "are"} ${names.join(", ")}${there.length > MOST_NAMES ? " and more: see `cloche list`" : ""}`;
}
