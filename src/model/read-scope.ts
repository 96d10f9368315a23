import { z } from "zod";
import { path } from "./path.ts";

/**
 * What a call may read of the host, for callers that are trusted with a part of it: what lies below `root` by its real path. Of a `project` that is what a
 * seed of the root brings, and so nothing that git ignores; of a `folder` everything.
 */
export const ReadScope = z.strictObject({ root: path, kind: z.enum(["project", "folder"]) });
export type ReadScope = z.infer<typeof ReadScope>;
