import type { z } from "zod";

/** Where in a value an issue is: of a key that is not known, the key itself. */
export function issuePath(issue: z.core.$ZodIssue | undefined): readonly PropertyKey[] {
  if (issue === undefined) return [];
  if (issue.code === "unrecognized_keys") return [...issue.path, ...issue.keys.slice(0, 1)];
  if (issue.code !== "invalid_union") return issue.path;
  const [inner] = issue.errors.map(([first]) => first).filter((one) => one && one.code !== "invalid_type");
  return inner ? [...issue.path, ...issuePath(inner)] : issue.path;
}
