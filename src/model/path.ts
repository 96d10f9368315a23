import { z } from "zod";

/** A path of the host or of a workspace, as an input. */
export const path = z
  .string()
  .min(1)
  .max(4096)
  .refine((text) => !text.includes("\0"), "a path has no NUL");
