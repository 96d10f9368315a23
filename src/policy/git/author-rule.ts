import type { GateIdentity } from "../../model/git-order.ts";
import { type PushFailure, failed } from "./push-failure.ts";

const PERSON = /^(author|committer) (.*) <([^<>\n]*)> \d+ [+-]\d{4}$/;

/** What the head of a commit says of who it is by, and what is wrong with it. */
export function judgeAuthors(id: string, commit: Buffer, identity: GateIdentity): PushFailure[] {
  const end = commit.indexOf("\n\n");
  const head = commit.toString("utf8", 0, end < 0 ? commit.length : end);
  const seen = new Map<string, { name: string; email: string }>();
  for (const line of head.split("\n")) {
    const [, role, name = "", email = ""] = PERSON.exec(line) ?? [];
    if (role !== undefined && !seen.has(role)) seen.set(role, { name, email });
  }
  const isRight = (role: string) => {
    const person = seen.get(role);
    if (!person) return false;
    return (
      (identity.name === null || person.name === identity.name) &&
      (identity.email === null || person.email === identity.email)
    );
  };
  const wrong = ["author", "committer"].filter((role) => !isRight(role));
  if (wrong.length === 0) return [];
  const wanted = [identity.name, identity.email === null ? null : `<${identity.email}>`].filter(
    (part) => part !== null,
  );
  return [failed("author", `the ${wrong.join(" and the ")} of commit ${id.slice(0, 12)} is not ${wanted.join(" ")}`)];
}
