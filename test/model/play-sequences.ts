import { chmodSync } from "node:fs";
import type { Installation } from "../helpers/installation.ts";
import { Player, type Wall } from "./player.ts";
import { randomSequence, type Sequence, type Step } from "./steps.ts";

/** A workspace stands on so many saved states at most; and what is short is soon understood. */
const LONGEST = 40;
/** A failing sequence is made shorter for so long. */
const SHRINK_MS = 120_000;

export interface Wanted {
  /** Of which the first is where a workspace starts, and all are where it may move. */
  readonly walls: readonly Wall[];
  readonly seed: number;
  readonly steps: number;
}

/** Plays sequence after sequence, each of the next seed. Throws what is not as it should be, with the steps that show it. */
export async function playSequences(at: Installation, { walls, seed, steps }: Wanted): Promise<void> {
  let played = 0;
  for (let next = seed; played < steps; next++) {
    const sequence = randomSequence(next, Math.min(LONGEST, steps - played));
    const error = await failureOf(at, walls, sequence);
    if (error !== undefined)
      throw await explain(at, { walls, seed: next, steps: sequence.steps.length }, sequence, error);
    played += sequence.steps.length;
  }
}

let count = 0;

async function failureOf(at: Installation, walls: readonly Wall[], sequence: Sequence): Promise<Error | undefined> {
  const { baseline, steps } = sequence;
  // The sandbox's user has to reach the plain folder.
  chmodSync(at.root, 0o755);
  let done: Step | "start" = "start";
  try {
    await using player = await Player.start(at.sdk, walls, at.path(`play-${++count}`), baseline);
    for (const step of steps) {
      done = step;
      await player.play(step);
    }
    return undefined;
  } catch (error) {
    return new Error(`${String(error)}\nat ${shown(done)}`, { cause: error });
  }
}

async function explain(
  at: Installation,
  { walls, seed, steps }: Wanted,
  sequence: Sequence,
  error: Error,
): Promise<Error> {
  const again = `Play it again: make torture SEED=${seed} STEPS=${steps} BACKEND=${walls[0]?.backend ?? ""}`;
  console.error(`${error.message}\n${again}\nLooking for fewer steps that show it`);
  const shorter = await shrink(sequence, async (one) => {
    const other = await failureOf(at, walls, one);
    return other && kindOf(other) === kindOf(error) ? other : undefined;
  });
  const last = shorter.error ?? error;
  const { baseline, steps: left } = shorter.sequence;
  const lines = [`Steps that show it, from ${shown(baseline)}:`, ...left.map(shown)];
  return new Error([last.message, again, ...lines].join("\n"), { cause: last });
}

/** What failures have in common that are one: how their message begins. */
const kindOf = ({ message }: Error): string => message.slice(0, 30);

/** Long names and targets are of one letter. */
const shown = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/(.)\1{40,}/g, (all, letter) => `${letter}{${all.length}}`);

/** Leaves out what is not needed for the failure: first large parts, then single steps. */
async function shrink(
  whole: Sequence,
  failure: (sequence: Sequence) => Promise<Error | undefined>,
): Promise<{ sequence: Sequence; error: Error | undefined }> {
  const until = Date.now() + SHRINK_MS;
  let best: { sequence: Sequence; error: Error | undefined } = { sequence: whole, error: undefined };
  for (let size = Math.ceil(whole.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < best.sequence.steps.length && Date.now() < until;) {
      const { baseline, steps } = best.sequence;
      const sequence = { baseline, steps: [...steps.slice(0, start), ...steps.slice(start + size)] };
      const error = await failure(sequence);
      if (error) best = { sequence, error };
      else start += size;
    }
  }
  return best;
}
