import fc from "fast-check";
import { expect, it } from "vitest";
import { NOW, PlayedOperator, proposalOf, runOf } from "../../test/helpers/operator-state.ts";
import { columnsOf } from "./columns.ts";

const HOSTILE = "\u001B[2J\u001B]0;owned\u0007\u009B8m\u202Egnp.exe\u2066\u200B\u{E0041}\r\b";
// eslint-disable-next-line no-control-regex -- what must not be there
const DRIVES = /[\u0000-\u001F\u007F-\u009F\u200B-\u200F\u202A-\u202E\u2066-\u2069\u{E0000}-\u{E007F}]/u;

it("shows what an agent wrote with escapes, in the list and in the proposal [G-129]", () => {
  const hostile = proposalOf(1, {
    identity: `run${HOSTILE}`,
    adds: `adds${HOSTILE}`,
    justification: `because\n${HOSTILE}\nIt adds\nnothing at all`,
    command: `curl${HOSTILE}`,
    after: [{ host: `h${HOSTILE}` }],
  });
  const operator = new PlayedOperator({ cols: 200, rows: 40 }).list([hostile], [runOf("a-1", { label: HOSTILE })]);
  operator.send({ type: "notice", notice: { tone: "warning", text: `said ${HOSTILE}` } });
  const list = operator.screen;
  const detail = operator.press("enter").send({ type: "detail", detail: hostile }).screen;
  for (const screen of [list, detail]) {
    expect(screen.split("\n").filter((line) => DRIVES.test(line))).toEqual([]);
    expect(screen).toContain(String.raw`\x1b[2J\x1b]0;owned\x07\x9b8m\u202egnp.exe`);
  }
  expect(detail, "each line of the agent's is marked").toMatch(/^│ It adds$/m);
  expect(detail.indexOf("It adds"), "and comes after what cloche says").toBeLessThan(detail.indexOf("│ because"));
});

it("never draws more than the terminal has, nor a line that drives it, whatever an agent writes [G-129]", () => {
  const text = fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), fc.string({ unit: "grapheme", maxLength: 200 }));
  const size = fc.record({ cols: fc.integer({ min: 1, max: 120 }), rows: fc.integer({ min: 1, max: 50 }) });
  fc.assert(
    fc.property(text, text, size, (one, other, { cols, rows }) => {
      const detail = proposalOf(1, { adds: one, justification: other, identity: other, after: [{ host: one }] });
      const operator = new PlayedOperator({ cols, rows }).list([detail], [runOf("a-1")]);
      for (const lines of [operator.lines, operator.press("enter").send({ type: "detail", detail }).lines]) {
        expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
        expect(lines.filter((line) => DRIVES.test(line) || columnsOf(line) > cols)).toEqual([]);
      }
    }),
    { numRuns: 60 },
  );
});

it("shows all of its keys in a terminal of 80 columns", () => {
  const { screen } = new PlayedOperator({ cols: 80, rows: 24 }).list([]).press("?");
  expect(screen).toContain("o, r or b then approves the change");
  expect(screen).not.toContain("…");
});

it("says when nobody asks, when it does not know yet, and when the terminal is too small", () => {
  expect(new PlayedOperator().screen).toMatch(/Proposals: …[^]*Asking the daemon[^]*Runs: …/);
  expect(new PlayedOperator().list([]).screen).toContain("Nobody asks for anything.");
  expect(new PlayedOperator({ cols: 30, rows: 24 }).screen).toContain("The terminal is too small");
});

it("shows the change of the policy as a diff, and long parts that stay by their length", () => {
  const current = Array.from({ length: 30 }, (_, at) => ({ host: `h${at}.example.com` }));
  const after = [...current, { host: "new.example.com", ports: [8443] }];
  const { screen } = new PlayedOperator().open(proposalOf(1, { current, after }));
  expect(screen).toContain("… 27 lines that stay as they are");
  expect(screen).toMatch(/\+ - host: new\.example\.com\n\+ {3}ports:\n\+ {5}- 8443/);
});

it("shows what exactly is held where the policy stays as it is", () => {
  const { screen } = new PlayedOperator().open(
    proposalOf(1, {
      kind: "push-allow",
      after: null,
      proposed: { repo: "app", refs: [{ ref: "refs/heads/x" }] } as never,
    }),
  );
  expect(screen).toMatch(/What is asked\nrepo: app/);
  expect(screen).toContain("What the gate says");
});

it("tells age and end of a proposal as time goes on", () => {
  const operator = new PlayedOperator().open(proposalOf(1, { created_at: NOW - 5 }));
  expect(operator.lines[0]).toContain("5s old, over in 1h");
  operator.send({ type: "time", now: NOW + 4000 });
  expect(operator.lines[0]).toContain("its time is over");
});

it("shows the keys", () => {
  const operator = new PlayedOperator().list([]).press("?");
  expect(operator.screen).toContain("write it into the bottle's file");
  expect(operator.press("j").screen).toContain("Nobody asks");
});

it("tells a long notice on two lines, and the loss of the daemon before it", () => {
  const operator = new PlayedOperator().open(proposalOf(1));
  operator.send({ type: "notice", notice: { tone: "warning", text: `${"word ".repeat(30)}end` } });
  expect(operator.lines.slice(20, 22).map((line) => line.length)).toEqual([79, 73]);
  operator.send({ type: "connection", isConnected: false }).press("r");
  expect(operator.lines[20]).toMatch(/^daemon lost, reconnecting… The daemon is lost: wait/);
});
