import type { IgnoreRules } from "../policy/ignore-rules.ts";
import type { ReadScope } from "../model/read-scope.ts";
import type { ReportProgress } from "../model/progress.ts";
import type { WorkspaceSeed } from "../model/workspace.ts";

export interface ImportedSeed {
  /** Read-only tree in the cache whose files belong to `agent`; the same project state gives the same tree. */
  readonly tree: string;
  readonly seed: WorkspaceSeed;
}

export interface Seeds {
  /** `undefined` is the empty seed. Never changes the source. A partial import is never used. What is not in the scope is refused. */
  import(
    seedPath: string | undefined,
    options: {
      scope?: ReadScope | undefined;
      progress?: ReportProgress | undefined;
      signal?: AbortSignal | undefined;
    },
  ): Promise<ImportedSeed>;
  /** What the project of a tree ignored when it was imported. Nothing where that is not known. */
  ignoreRules(tree: string): IgnoreRules;
  /** Removes cached trees that are not in `inUse`. */
  prune(inUse: ReadonlySet<string>): Promise<{ removed: number }>;
}
