import type { OperationInput } from "../../model/operations.ts";
import type { OptionSpecs, Values } from "./option-spec.ts";
import { usageError } from "./usage-error.ts";

/** Which files that git ignores come along. */
export const INCLUDE_OPTIONS = {
  include: {
    type: "string",
    value: "GLOB",
    description:
      "Bring what git ignores and this matches, such as node_modules; files with secrets only by their names",
    multiple: true,
  },
  "include-ignored": { type: "boolean", description: "Bring all that git ignores, but for files with secrets" },
} as const satisfies OptionSpecs;

/** The same where it can be remembered. */
export const SEED_INCLUDE_OPTIONS = {
  ...INCLUDE_OPTIONS,
  "no-include": { type: "boolean", description: "Bring nothing that git ignores, whatever is remembered" },
  remember: { type: "boolean", description: "Do so with this project from now on; with --no-include, forget it" },
} as const satisfies OptionSpecs;

type Included = Pick<OperationInput<"createWorkspace">, "include" | "include_ignored">;

/** Absent when nothing was said, so that what is remembered counts. */
export function includeInput(values: Values<typeof INCLUDE_OPTIONS>): Included {
  const { include, "include-ignored": all } = values;
  return all || include.length > 0 ? { include, include_ignored: all } : {};
}

export function seedIncludeInput(
  values: Values<typeof SEED_INCLUDE_OPTIONS> & { readonly "seed-path"?: string | undefined },
  words: readonly string[],
): Included & Pick<OperationInput<"createWorkspace">, "remember_include"> {
  const { "no-include": none, remember, "seed-path": seed } = values;
  const given = includeInput(values);
  const isSaid = given.include !== undefined;
  if (none && isSaid) throw usageError(words, "Give --no-include, or --include and --include-ignored, and not both");
  if (remember && !none && !isSaid) {
    throw usageError(words, "--remember needs --include, --include-ignored or --no-include", "Say what to remember.");
  }
  if ((isSaid || none) && seed === undefined) {
    throw usageError(words, "There is no seed that something could be included in", "Name one with --seed-path.");
  }
  return { ...(none ? { include: [], include_ignored: false } : given), ...(remember && { remember_include: true }) };
}
