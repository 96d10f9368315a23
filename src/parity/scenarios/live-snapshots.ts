import assert from "node:assert/strict";
import type { ParityContext } from "../context.ts";
import { expectRightClock } from "../right-clock.ts";
import { scenarios } from "../scenario.ts";
import { getPage, web } from "../web-service.ts";

/** What the count jumps by at a signal: it does not come there by itself. */
const JUMP = 1_000_000;
/** Counts in memory, and shows it: a number that goes on tells that the process does. */
const COUNTER = `setsid perl -e '$| = 1; my $i = 0; $SIG{USR1} = sub { $i += ${JUMP} }; for (;; $i++) { open my $f, ">", "/tmp/count.new"; print $f $i; close $f; rename "/tmp/count.new", "/tmp/count"; select undef, undef, undef, 0.05 }' > /dev/null 2>&1 & echo $! > /tmp/counter`;

const count = async (at: ParityContext, id: string) => Number(await at.out(id, "cat /tmp/count"));

/** A workspace in which something runs, saved with it, and then far ahead of what was saved. */
async function saved(at: ParityContext): Promise<string> {
  const id = await at.create();
  await at.out(id, `${COUNTER}; echo first > state; echo there > /tmp/there`);
  await at.eventually(async () => assert.ok((await count(at, id)) > 5));
  const made = await at.client.createSnapshot(id, "alive", { live: true });
  assert.equal(made.snapshot.snapshot_name, "alive");
  await at.out(id, "kill -USR1 $(cat /tmp/counter)");
  await at.eventually(async () => assert.ok((await count(at, id)) > JUMP, "what runs goes on"));
  return id;
}

async function goesOn(at: ParityContext, id: string): Promise<void> {
  assert.equal(await at.out(id, "cat state /tmp/there"), "first\nthere\n");
  const now = await count(at, id);
  assert.ok(now < JUMP, `the count goes on from where it was saved: ${now}`);
  await at.eventually(async () => assert.ok((await count(at, id)) > now, "what ran when it was saved runs"));
  await expectRightClock(at, id);
}

/** A workspace with a service, a shell and a command under way, saved with them. */
async function savedSession(at: ParityContext): Promise<{ id: string; port: number; shell: string }> {
  const id = await at.create({ network_policy: "published-ports" });
  const service = await at.client.startService(id, "web", { ...web, published_ports: [{ guest_port: 8080 }] });
  const { shell_id: shell } = await at.client.openShell(id);
  await at.client.writeShell(id, shell, { input: "kept=42; echo ready-$((1+1))" });
  await at.eventually(async () => assert.ok((await at.client.readShell(id, shell)).output.includes("ready-2")));
  const waiting = at.client.execWorkspace(id, {
    command: "touch waits; while ! test -e go; do sleep 0.1; done; echo went",
  });
  waiting.catch(() => undefined); // it ends with the sandbox that is reset
  await at.eventually(async () => assert.equal(await at.out(id, "ls waits"), "waits\n"));
  await at.client.createSnapshot(id, "alive", { live: true });
  return { id, port: service.published_ports[0]?.host_port ?? 0, shell };
}

/** What was saved is known: the service with its log and port, the shell with its variable, the command until its end. */
async function isKnown(at: ParityContext, id: string, shell: string): Promise<number> {
  const service = await at.client.statusService(id, "web");
  assert.equal(service.state, "running");
  assert.equal((await at.client.logsService(id, "web")).stdout, "listening\n");
  const port = service.published_ports[0]?.host_port ?? 0;
  assert.equal(await getPage(port), "served\n");
  await at.client.writeShell(id, shell, { input: "echo back-$kept" });
  await at.eventually(async () => assert.ok((await at.client.readShell(id, shell)).output.includes("back-42")));
  const entry = async () =>
    (await at.client.logsWorkspace(id)).entries.find(({ command }) => String(command).startsWith("touch waits"));
  assert.equal((await entry())?.state, "running");
  await at.out(id, "touch go");
  await at.eventually(async () => {
    const ended = await entry();
    assert.deepEqual([ended?.state, ended?.stdout], ["done", "went\n"]);
  });
  assert.equal((await at.client.stopService(id, "web")).state, "stopped");
  return port;
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
      const id = await saved(at);
      await at.out(id, "echo second > state; rm /tmp/there");
      await at.client.resetWorkspace(id, { snapshot: "alive" });
      await goesOn(at, id);
    },
  },
  "its services, shells and commands are known after a reset, with their ports": {
    needs,
    run: async (at) => {
      const { id, port, shell } = await savedSession(at);
      await at.client.stopService(id, "web");
      await at.client.closeShell(id, shell);
      await at.client.resetWorkspace(id, { snapshot: "alive" });
      assert.equal(await isKnown(at, id, shell), port);
    },
  },
  "its services, shells and commands are known in a fork, with ports of its own": {
    needs,
    run: async (at) => {
      const { id, port, shell } = await savedSession(at);
      const fork = at.keep((await at.client.forkWorkspace(id, { snapshot: "alive" })).workspace_id);
      assert.notEqual(await isKnown(at, fork, shell), port);
      assert.equal(await getPage(port), "served\n");
    },
  },
  "a fork of it goes on from there too, and is another machine": {
    needs,
    run: async (at) => {
      const id = await saved(at);
      const forks: string[] = [];
      for (let nth = 0; nth < 2; nth++)
        forks.push(at.keep((await at.client.forkWorkspace(id, { snapshot: "alive" })).workspace_id));
      for (const fork of forks) await goesOn(at, fork);
      for (const ask of ["hostname", "cat /etc/machine-id", "head -c 16 /dev/urandom | od -An -tx1"]) {
        const answers: string[] = await Promise.all([id, ...forks].map((one) => at.out(one, ask)));
        assert.equal(new Set(answers).size, 3, `${ask}: ${answers.join(" ")}`);
      }
    },
  },
});
