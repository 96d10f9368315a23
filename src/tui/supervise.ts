import { constants } from "node:os";
import { systemClock } from "../base/clock.ts";
import { editDraft } from "./edit-draft.ts";
import { Operator } from "./operator.ts";
import type { OperatorClient } from "./operator-client.ts";
import { ScreenSession, type Terminal } from "./screen-session.tsx";
import { beginning } from "./state.ts";

type Signal = "INT" | "TERM" | "HUP";

/** What the screen is at, and what it leaves to others. */
export interface OperatorHost {
  readonly terminal: Terminal;
  readonly size: () => { cols: number; rows: number };
  readonly hasColour: boolean;
  readonly onSignal: (handler: (signal: Signal) => void) => () => void;
  /** At the terminal, until the operator has left it. */
  readonly openEditor: (path: string) => Promise<void>;
  readonly attach: (identity: string) => Promise<void>;
}

/** Ages are told in seconds at first. */
const TICK_MS = 1000;

/** The operator's screen, until they quit or a signal comes. Gives the exit code. */
export async function supervise(client: OperatorClient, host: OperatorHost): Promise<number> {
  const over = new AbortController();
  let isLent = false;
  let end: (code: number) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const ended = new Promise<number>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  /** The terminal is somebody else's meanwhile. */
  const lend = async <Result>(use: () => Promise<Result>): Promise<Result> => {
    isLent = true;
    await screen.leave();
    try {
      return await use();
    } finally {
      isLent = false;
      if (!over.signal.aborted) enter();
    }
  };
  const operator = new Operator(
    client,
    {
      edit: (effect) => lend(() => editDraft(effect, host.openEditor)),
      attach: (identity) => lend(() => host.attach(identity)),
      quit: () => end(0),
    },
    beginning(host.size(), systemClock.now()),
  );
  const screen = new ScreenSession(host.terminal, {
    store: operator,
    hasColour: host.hasColour,
    onFailure: (error) => fail(error),
  });
  const resize = () => {
    screen.clear();
    operator.send({ type: "size", ...host.size() });
  };
  const enter = () => {
    operator.send({ type: "size", ...host.size() });
    screen.enter();
  };
  const stopListening = host.onSignal((signal) => {
    // Ctrl-C at a terminal that is lent is for whoever has it.
    if (signal !== "INT" || !isLent) end(128 + constants.signals[`SIG${signal}`]);
  });
  const ticking = setInterval(() => operator.send({ type: "time", now: systemClock.now() }), TICK_MS);
  host.terminal.stdout.on("resize", resize);
  try {
    enter();
    const following = operator.follow(over.signal);
    const code = await ended;
    over.abort();
    await following;
    return code;
  } finally {
    over.abort();
    clearInterval(ticking);
    host.terminal.stdout.off("resize", resize);
    stopListening();
    await screen.leave();
  }
}
