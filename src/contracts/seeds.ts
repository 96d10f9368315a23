import type { IgnoreRules } from "../policy/ignore-rules.ts";
import type { ReadScope } from "../model/read-scope.ts";
import type { IncludeRules } from "../policy/seed-include.ts";
import type { ReportProgress } from "../model/progress.ts";
import type { LeftOut } from "../model/seed-content.ts";
import type { WorkspaceSeed } from "../model/workspace.ts";

export interface ImportedSeed {
  /** Read-only tree in the cache whose files belong to `agent`; the same project state gives the same tree. */
  readonly tree: string;
  readonly seed: WorkspaceSeed;
}

/** What was brought from the host to be copied into a workspace that is there. */
export interface BroughtTree {
  /** Read-only, in the cache. Of a file or a link, the folder with just that in it. */
  readonly tree: string;
  readonly kind: "directory" | "tar_archive" | "file" | "symlink";
  readonly leftOut: LeftOut | null;
}

export interface BringOptions {
  readonly scope?: ReadScope | undefined;
  readonly include?: IncludeRules | undefined;
  /** As it is: an archive is a file, and a link a link. Otherwise an archive is unpacked and a link followed. */
  readonly asItIs: boolean;
  readonly progress?: ReportProgress | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Seeds {
  /** `undefined` is the empty seed. Never changes the source. A partial import is never used. What is not in the scope is refused. */
  import(
    seedPath: string | undefined,
    options: {
      scope?: ReadScope | undefined;
      /** Ignored files that come along; none when not given. */
      include?: IncludeRules | undefined;
      progress?: ReportProgress | undefined;
      signal?: AbortSignal | undefined;
    },
  ): Promise<ImportedSeed>;
  /** The same of a single file too, for a workspace that is there. */
  bring(path: string, options: BringOptions): Promise<BroughtTree>;
  /** What the project of a tree ignored when it was imported. Nothing where that is not known. */
  ignoreRules(tree: string): IgnoreRules;
  /** Removes cached trees that are not in `inUse`. */
  prune(inUse: ReadonlySet<string>): Promise<{ removed: number }>;
}
