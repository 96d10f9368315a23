import { type Line, line } from "./line.ts";
import { fill } from "./columns.ts";
import { NOTHING, show } from "./shown.ts";

const KEYS = [
  ["Up Down k j", "move; PgUp PgDn and Home End go further"],
  ["Enter", "look at the proposal"],
  ["Tab", "to the runs, and back to the proposals"],
  ["o", "approve it once"],
  ["r", "approve it for this run, also when it is resumed"],
  ["b", "approve it, and write it into the bottle's file"],
  ["e", "change it in your editor; o, r or b then approves the change"],
  ["x", "reject it; the agent is told the reason"],
  ["a", "sit down at a run; Ctrl-] comes back here"],
  ["s", "stop the agent of a run; the run is kept"],
  ["Esc", "back"],
  ["q Ctrl-C", "quit; agents and proposals stay as they are"],
] as const;

export const helpLines = (): Line[] => [
  line(NOTHING),
  ...KEYS.map(([key, what]) => line(show`  ${fill(show`${key}`, 12)} ${what}`)),
  line(NOTHING),
  line(show`  A proposal can be approved when all that it changes has been on the screen.`, "quiet"),
];
