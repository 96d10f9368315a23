import { z } from "zod";

/** Which ignored files come along; `src/policy/path-glob.ts` says what it matches. */
export const IncludeGlob = z
  .string()
  .max(512)
  .refine((text) => /[^/.]/.test(text), "a glob names something")
  .refine((text) => !text.split("/").includes(".."), 'a glob has no ".."')
  .refine((text) => !text.includes("\0"), "a glob has no NUL");

/** Files and bytes are what was counted: all there is where `is_complete`, else at least that much. */
const counted = { files: z.number(), size_bytes: z.number(), is_complete: z.boolean() };

/** What git ignores of a project and what therefore stayed at home. */
export const LeftOut = z.object({
  /** Files and folders that git ignores; a folder counts as one, with all that is in it. */
  entries: z.number(),
  ...counted,
  /** The largest of them, as far as was counted. Paths are from the seed's root; one of a folder ends with a slash. */
  largest: z.array(z.object({ path: z.string(), ...counted })),
  /** Files that were asked for with the others, and stayed because they are likely to be secrets: the first of them. */
  secrets: z.array(z.string()),
  secret_count: z.number(),
});
export type LeftOut = z.infer<typeof LeftOut>;

/** What git ignores and what came along all the same. */
export const Included = z.object({
  include_ignored: z.boolean(),
  include: z.array(z.string()),
  /** Whether that was remembered from another time. */
  is_remembered: z.boolean(),
  files: z.number(),
  size_bytes: z.number(),
  /** Files among them that are likely to be secrets, which the globs name: the first of them. */
  secrets: z.array(z.string()),
  secret_count: z.number(),
  /** Globs that matched nothing. */
  unmatched: z.array(z.string()),
});
export type Included = z.infer<typeof Included>;
