import assert from "node:assert/strict";
import { cpus, totalmem } from "node:os";
import type { ParityContext } from "../context.ts";
import { scenarios } from "../scenario.ts";

const holds = (at: ParityContext, name: string): boolean =>
  at.health.limits.some((limit) => limit.name === name && limit.holds);

export const LIMIT_SCENARIOS = scenarios("limits", {
  "memory, processes and processors are limited": (at) => {
    for (const name of ["memory", "pids", "cpu"])
      assert.ok(holds(at, name), `${name} is not limited: ${JSON.stringify(at.health.limits)}`);
    return Promise.resolve();
  },
  "more memory or processors than the host has are refused, and nothing is made": async (at) => {
    const before = (await at.client.listWorkspaces()).count;
    for (const asked of [{ mem_mib: Math.floor(totalmem() / 2 ** 20) + 1 }, { vcpu_count: cpus().length + 1 }])
      assert.equal(await at.refusal(at.create(asked)), "INVALID_ARGUMENT");
    assert.equal((await at.client.listWorkspaces()).count, before);
  },
  "a command that eats memory is ended, and the sandbox goes on": async (at) => {
    const id = await at.create({ mem_mib: 192 });
    const eater = await at.client.execWorkspace(id, {
      command: ["perl", "-e", 'my @a; while (@a < 4096) { push @a, "x" x 1048576 } print "ate"'],
      timeout_seconds: 100,
    });
    assert.equal(eater.stdout, "", "it has no more than it was given");
    assert.notEqual(eater.exit_code, 0);
    assert.equal(eater.timed_out, false);
    assert.equal(await at.out(id, "echo alive"), "alive\n");
  },
  "processes without end are stopped, and the sandbox goes on": async (at) => {
    const id = await at.create();
    const bomb = `my @p; while (@p < 3000) { my $p = fork; last unless defined $p; if (!$p) { sleep 60; exit } push @p, $p }
      print @p < 3000 ? "stopped" : "all"; kill "KILL", @p; waitpid $_, 0 for @p`;
    const result = await at.client.execWorkspace(id, { command: ["perl", "-e", bomb], timeout_seconds: 90 });
    assert.equal(result.stdout, "stopped");
    await at.eventually(async () => assert.equal(await at.out(id, "echo alive"), "alive\n"));
  },
  "folders in memory are bounded by it": async (at) => {
    const id = await at.create({ mem_mib: 192 });
    for (const folder of ["/tmp", "/dev/shm"]) {
      const full = await at.sh(id, `head -c 512M /dev/zero > ${folder}/big; echo $?; rm -f ${folder}/big`, {
        timeout_seconds: 100,
      });
      assert.notEqual(full.stdout, "0\n", folder);
    }
    assert.equal(await at.out(id, "echo alive"), "alive\n");
  },
});
