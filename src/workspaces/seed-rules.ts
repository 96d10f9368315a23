import { failure } from "../model/error-codes.ts";
import { argument, way } from "../model/hint.ts";
import type { OperationInput } from "../model/operations.ts";
import type { IncludeRules } from "../policy/seed-include.ts";
import type { RememberedIncludes } from "./remembered-includes.ts";

type Asked = Pick<
  OperationInput<"createWorkspace">,
  "seed_path" | "include_ignored" | "include" | "remember_include" | "read_scope"
>;

export interface ChosenRules {
  readonly include: IncludeRules | undefined;
  readonly isRemembered: boolean;
  /** Remembers them, once the project could be imported. */
  readonly keep?: () => Promise<void>;
}

/** What a call says about ignored files; undefined when it says nothing. */
export function statedRules({
  include_ignored,
  include,
}: Pick<Asked, "include_ignored" | "include">): IncludeRules | undefined {
  if (include_ignored === undefined && include === undefined) return undefined;
  return { ignored: include_ignored ?? false, globs: include ?? [] };
}

/** Which ignored files come along with a new workspace: those that the call says, else those that were remembered. */
export async function chooseRules(input: Asked, remembered: RememberedIncludes): Promise<ChosenRules> {
  const { seed_path: path, read_scope: scope, remember_include: remember = false } = input;
  const stated = statedRules(input);
  if (path === undefined) {
    if (stated === undefined && !remember) return { include: undefined, isRemembered: false };
    throw failure("INVALID_ARGUMENT", "There is no seed that something could be included in", {
      hint: [way`Name one with ${argument("seed_path")}`],
    });
  }
  // SECURITY: what the user has remembered is not for callers that may read a part of the host (G-32)
  if (scope !== undefined) return { include: stated, isRemembered: false };
  const kept = stated === undefined && !remember ? await remembered.find(path) : undefined;
  return {
    include: kept ?? stated,
    isRemembered: kept !== undefined,
    ...(remember && { keep: () => remembered.remember(path, stated ?? { ignored: false, globs: [] }) }),
  };
}
