import type { GateIdentity } from "../../model/git-order.ts";

const ID = "[0-9a-f]{40}";
const PERSON = "([^<>\\n]*) <([^<>\\n]*)> \\d{1,12} [+-]\\d{4}";
/** A merge of a signed tag has that tag in its head. Its lines begin with a space, so that none of them is a line of the commit's own. */
const MERGED_TAG = `mergetag object ${ID}\\n type commit\\n tag [^\\n]+\\n(?: [^\\n]*\\n)+`;
const COMMIT = new RegExp(
  `^tree ${ID}\\n(?:parent ${ID}\\n)*author ${PERSON}\\ncommitter ${PERSON}\\n(?:encoding [\\w.-]+\\n)?(?:${MERGED_TAG})*\\n`,
);
const TAG = new RegExp(`^object ${ID}\\ntype (?:commit|tree|blob|tag)\\ntag [^\\n]+\\ntagger ${PERSON}\\n\\n`);

/** By whom something has to be. */
export interface SigningRule {
  readonly identity: GateIdentity;
  /** Whether a repository of the bottle takes commits by anybody. What none takes is not signed either. */
  readonly isAnyAuthor: boolean;
}

/**
 * What is wrong with something that is to be signed; undefined when it may be: a commit or a tag as git writes them, made by who the bottle says. Who a commit is by
 * follows the rule for pushes.
 *
 * SECURITY: the key signs commits and tags of the agent's own, and nothing else that somebody could want a signature under (G-83)
 */
export function signingProblem(payload: Buffer, { identity, isAnyAuthor }: SigningRule): string | undefined {
  if (payload.includes(0)) return "it has a NUL byte";
  const text = payload.toString("utf8");
  const commit = COMMIT.exec(text);
  const tag = commit ? null : TAG.exec(text);
  if (!commit && !tag) return "it is neither a commit nor a tag";
  const is = (name: string | undefined, email: string | undefined) =>
    (identity.name === null || name === identity.name) && (identity.email === null || email === identity.email);
  if (tag) return is(tag[1], tag[2]) ? undefined : "its tagger is not who the bottle says";
  const [, author, authorEmail, committer, committerEmail] = commit ?? [];
  if (!is(committer, committerEmail)) return "its committer is not who the bottle says";
  if (!isAnyAuthor && !is(author, authorEmail)) return "its author is not who the bottle says";
  return undefined;
}
