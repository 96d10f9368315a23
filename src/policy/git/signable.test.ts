import { expect, it } from "vitest";
import { signingProblem } from "./signable.ts";

const ID = "a".repeat(40);
const ME = "Review Agent <agent@example.com> 1700000000 +0100";
const IDENTITY = { name: "Review Agent", email: "agent@example.com" };
const commit = (committer = ME, more = "") =>
  `tree ${ID}\nparent ${ID}\nauthor Somebody <s@example.com> 1 +0000\ncommitter ${committer}\n${more}\nmessage\n`;

it("lets commits and tags be signed that are by who the bottle says", () => {
  expect(signingProblem(Buffer.from(commit()), IDENTITY)).toBeUndefined();
  expect(
    signingProblem(Buffer.from(`object ${ID}\ntype commit\ntag v1\ntagger ${ME}\n\nfirst\n`), IDENTITY),
  ).toBeUndefined();
});

it("G-83 lets nothing else be signed", () => {
  for (const text of [
    "",
    "any text",
    commit().replace("tree", "trees"),
    commit(ME, "gpgsig x\n"),
    commit(`${ME}\ncommitter Other <o@example.com> 1 +0000`),
    `${commit()}\0`,
    `\n${commit()}`,
    `object ${ID}\ntype commit\ntag v1\n\nno tagger\n`,
  ])
    expect(signingProblem(Buffer.from(text), IDENTITY)).toBeDefined();
  expect(signingProblem(Buffer.from(commit("Other <agent@example.com> 1 +0000")), IDENTITY)).toContain(
    "by who the bottle says",
  );
  expect(signingProblem(Buffer.from(commit("Review Agent <o@example.com> 1 +0000")), IDENTITY)).toContain(
    "by who the bottle says",
  );
});
