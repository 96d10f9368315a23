import type { GateIdentity } from "../../model/git-order.ts";

const ID = "[0-9a-f]{40}";
const PERSON = "([^<>\\n]*) <([^<>\\n]*)> \\d{1,12} [+-]\\d{4}";
const COMMIT = new RegExp(
  `^tree ${ID}\\n(?:parent ${ID}\\n)*author ${PERSON}\\ncommitter ${PERSON}\\n(?:encoding [\\w.-]+\\n)?\\n`,
);
const TAG = new RegExp(`^object ${ID}\\ntype (?:commit|tree|blob|tag)\\ntag [^\\n]+\\ntagger ${PERSON}\\n\\n`);

/**
 * What is wrong with something that is to be signed; undefined when it may be: a commit or a tag as git writes them, by who the bottle says.
 *
 * SECURITY: the key signs commits and tags of the agent's own, and nothing else that somebody could want a signature under (G-83)
 */
export function signingProblem(payload: Buffer, identity: GateIdentity): string | undefined {
  if (payload.includes(0)) return "it has a NUL byte";
  const text = payload.toString("utf8");
  const commit = COMMIT.exec(text);
  const tag = commit ? null : TAG.exec(text);
  const [name, email] = commit ? [commit[3], commit[4]] : [tag?.[1], tag?.[2]];
  if (name === undefined || email === undefined) return "it is neither a commit nor a tag";
  if (identity.name !== null && name !== identity.name) return "it is not by who the bottle says";
  if (identity.email !== null && email !== identity.email) return "it is not by who the bottle says";
  return undefined;
}
