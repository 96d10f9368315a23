import type { z } from "zod";

type Issue = z.core.$ZodIssue;

/** The one to tell of: a key that is not known before one that is missing, because a mistyped key is both. */
export const tellingIssue = ({ issues }: z.ZodError): Issue | undefined =>
  issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];

/** Where in a value that one is: of a key that is not known, the key itself. */
export function issuePath(error: z.ZodError): readonly PropertyKey[] {
  const issue = tellingIssue(error);
  return issue ? pathOf(issue) : [];
}

function pathOf(issue: Issue): readonly PropertyKey[] {
  if (issue.code === "unrecognized_keys") return [...issue.path, ...issue.keys.slice(0, 1)];
  if (issue.code !== "invalid_union") return issue.path;
  const [inner] = issue.errors.map(([first]) => first).filter((one) => one && one.code !== "invalid_type");
  return inner ? [...issue.path, ...pathOf(inner)] : issue.path;
}
