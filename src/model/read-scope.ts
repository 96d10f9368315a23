import { z } from "zod";
import { path } from "./path.ts";
import { IncludeGlob } from "./seed-content.ts";

/**
 * What a call may read of the host, for callers that are trusted with a part of it: what lies below `root` by its real path. Of a `project` that is what a
 * seed of the root brings, and so nothing that git ignores but for what `ignored` matches; of a `folder` everything.
 */
export const ReadScope = z.strictObject({
  root: path,
  kind: z.enum(["project", "folder"]),
  /** Globs from the root, of a project: ignored files that a call may ask for. */
  ignored: z.array(IncludeGlob).max(64).optional(),
});
export type ReadScope = z.infer<typeof ReadScope>;
