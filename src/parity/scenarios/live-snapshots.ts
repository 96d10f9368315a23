import assert from "node:assert/strict";
import type { ParityContext } from "../context.ts";
import { scenarios } from "../scenario.ts";

/** Counts in memory, and shows it: a number that goes on tells that the process does. */
const COUNTER =
  'setsid perl -e \'$| = 1; for (my $i = 0; ; $i++) { open my $f, ">", "/tmp/count.new"; print $f $i; close $f; rename "/tmp/count.new", "/tmp/count"; select undef, undef, undef, 0.05 }\' > /dev/null 2>&1 & echo started';

const count = async (at: ParityContext, id: string) => Number(await at.out(id, "cat /tmp/count"));

/** A workspace in which something runs, saved with it. */
async function saved(at: ParityContext): Promise<{ id: string; atSave: number }> {
  const id = await at.create();
  await at.out(id, `${COUNTER}; echo first > state; echo there > /tmp/there`);
  await at.eventually(async () => assert.ok((await count(at, id)) > 5));
  const made = await at.client.createSnapshot(id, "alive", { live: true });
  assert.equal(made.snapshot.snapshot_name, "alive");
  const atSave = await count(at, id);
  await at.eventually(async () => assert.ok((await count(at, id)) > atSave, "what runs goes on"));
  return { id, atSave };
}

async function goesOn(at: ParityContext, id: string, atSave: number): Promise<void> {
  assert.equal(await at.out(id, "cat state /tmp/there"), "first\nthere\n");
  const now = await count(at, id);
  assert.ok(now < atSave + 200, `the count is as it was saved, or a little more: ${now}, saved at ${atSave}`);
  await at.eventually(async () => assert.ok((await count(at, id)) > now, "what ran when it was saved runs"));
  const seconds = Number(await at.out(id, "date +%s"));
  assert.ok(Math.abs(seconds - Date.now() / 1000) < 3, "the clock is right");
}

const needs = {
  capability: "live_snapshots",
  prepare: (at: ParityContext) => at.shared(),
  ask: async (at: ParityContext) => await at.client.createSnapshot(await at.shared(), "alive", { live: true }),
} as const;

export const LIVE_SNAPSHOT_SCENARIOS = scenarios("live snapshots", {
  "a running workspace is saved with what runs, and a reset goes on from there": {
    needs,
    run: async (at) => {
      const { id, atSave } = await saved(at);
      await at.out(id, "echo second > state; rm /tmp/there; sleep 15", { timeout_seconds: 60 });
      await at.client.resetWorkspace(id, { snapshot: "alive" });
      await goesOn(at, id, atSave);
    },
  },
  "a fork of it goes on from there too, and is another machine": {
    needs,
    run: async (at) => {
      const { id, atSave } = await saved(at);
      const forks: string[] = [];
      for (let nth = 0; nth < 2; nth++)
        forks.push(at.keep((await at.client.forkWorkspace(id, { snapshot: "alive" })).workspace_id));
      for (const fork of forks) await goesOn(at, fork, atSave);
      for (const ask of ["hostname", "cat /etc/machine-id", "head -c 16 /dev/urandom | od -An -tx1"]) {
        const answers: string[] = await Promise.all([id, ...forks].map((one) => at.out(one, ask)));
        assert.equal(new Set(answers).size, 3, `${ask}: ${answers.join(" ")}`);
      }
    },
  },
});
