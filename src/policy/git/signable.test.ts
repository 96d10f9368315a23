import { expect, it } from "vitest";
import { signingProblem } from "./signable.ts";

const ID = "a".repeat(40);
const ME = "Review Agent <agent@example.com> 1700000000 +0100";
const OTHER = "Somebody <s@example.com> 1 +0000";
const RULE = { identity: { name: "Review Agent", email: "agent@example.com" }, isAnyAuthor: false };
const commit = ({ author = ME, committer = ME, more = "" } = {}) =>
  `tree ${ID}\nparent ${ID}\nauthor ${author}\ncommitter ${committer}\n${more}\nmessage\n`;
const tag = (tagger: string) => `object ${ID}\ntype commit\ntag v1\n${tagger}\nfirst\n`;
const MERGED = `mergetag object ${ID}\n type commit\n tag v1\n tagger ${OTHER}\n \n theirs\n -----BEGIN SSH SIGNATURE-----\n AAAA\n -----END SSH SIGNATURE-----\n`;
const problem = (text: string, rule = RULE) => signingProblem(Buffer.from(text), rule);

it("lets commits and tags be signed that are by who the bottle says", () => {
  expect(problem(commit())).toBeUndefined();
  expect(problem(commit({ more: "encoding ISO-8859-1\n" }))).toBeUndefined();
  expect(problem(tag(`tagger ${ME}\n`))).toBeUndefined();
});

it("lets a merge of a tag that others signed be signed", () => {
  expect(problem(commit({ more: MERGED }))).toBeUndefined();
  expect(problem(commit({ more: `${MERGED}${MERGED}` }))).toBeUndefined();
});

it("G-83 lets nothing else be signed", () => {
  for (const text of [
    "",
    "any text",
    commit().replace("tree", "trees"),
    commit({ more: "gpgsig x\n" }),
    commit({ more: "mergetag x\n" }),
    commit({ more: `${MERGED}any line\n` }),
    commit({ more: `${MERGED}committer ${OTHER}\n` }),
    commit({ committer: `${ME}\ncommitter ${OTHER}` }),
    `\n${commit()}`,
    tag(""),
  ])
    expect(problem(text), text).toBe("it is neither a commit nor a tag");
  expect(problem(`${commit()}\0`)).toBe("it has a NUL byte");
});

it("G-83 lets nothing be signed that others made, or that no repository of the bottle would take", () => {
  for (const person of ["Other <agent@example.com> 1 +0000", "Review Agent <o@example.com> 1 +0000"]) {
    expect(problem(commit({ committer: person }))).toBe("its committer is not who the bottle says");
    expect(problem(tag(`tagger ${person}\n`))).toBe("its tagger is not who the bottle says");
    expect(problem(commit({ author: person }))).toBe("its author is not who the bottle says");
    expect(problem(commit({ author: person }), { ...RULE, isAnyAuthor: true })).toBeUndefined();
    expect(problem(commit({ committer: person }), { ...RULE, isAnyAuthor: true })).toContain("committer");
  }
});
