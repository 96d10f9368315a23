import { describe, expect, it } from "vitest";
import { proposalOf } from "../../test/helpers/operator-state.ts";
import { draftText, isSame, readDraft } from "./draft.ts";

describe("draftText()", () => {
  it("reads back as what it was", () => {
    const detail = proposalOf(1);
    expect(readDraft(draftText(detail, detail.proposed))).toEqual({ proposed: detail.proposed });
  });

  it("shows an editor nothing that drives a terminal or reorders a line, and means the same [G-129]", () => {
    const proposed = { routes: [{ host: "a\u001B[2J\u202Eb\u{E0041}\u009B" }], note: "first\nsecond" };
    const text = draftText(proposalOf(1, { adds: "adds\u001B]0;x\u0007\nhost: evil" }), proposed);
    // eslint-disable-next-line no-control-regex -- what must not be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E\u{E0041}]/u);
    expect(readDraft(text)).toEqual({ proposed });
  });
});

describe("readDraft()", () => {
  it.each([
    ["nothing", "", "it is empty"],
    ["comments alone", "# nothing\n", "it is empty"],
    ["half a list", "routes: [", "line 1: flow sequence"],
    ["a key twice", "a: 1\na: 2\n", "line 2: map keys must be unique"],
    ["references", "a: &x [1]\nb: *x\n", "Alias"],
  ])("says what is wrong with %s", (_, text, problem) => {
    const read = readDraft(text);
    expect(read).toHaveProperty("problem");
    expect((read as { problem: string }).problem).toContain(problem);
  });
});

it("isSame compares what it says, not how", () => {
  expect(isSame(readDraft("{a: [1]}"), readDraft("a:\n- 1\n"))).toBe(true);
  expect(isSame({ a: 1 }, { a: 2 })).toBe(false);
});
