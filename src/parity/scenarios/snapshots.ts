import assert from "node:assert/strict";
import type { DiffOptions } from "../../sdk/options.ts";
import type { ParityContext } from "../context.ts";
import { scenarios } from "../scenario.ts";

/** Everything that a layer has to carry: new, changed, removed and replaced things, modes, links, holes, times. */
const CHANGE = `echo new > new; echo more >> src/main.txt; rm README.md; rm -r src/other.txt; mkdir -m 700 closed; echo secret > closed/x; chmod 0 closed/x
  ln -s new link; truncate -s 20M sparse; printf end >> sparse; rm run.sh; mkdir run.sh; echo in > run.sh/in; touch -d @1234567890 new`;
const DESCRIBE =
  "find . -mindepth 1 -not -name . | sort | while read -r f; do stat -c '%n %F %a %s %U' \"$f\"; done; cat new src/main.txt run.sh/in; readlink link; tail -c 3 sparse; stat -c %Y new";

const describe = (at: ParityContext, id: string) => at.out(id, DESCRIBE);

const changed = async (at: ParityContext, id: string, options: DiffOptions = {}) =>
  (await at.client.diffWorkspace(id, options)).entries.map(({ status, path }) => `${status} ${path.slice(11)}`);

export const SNAPSHOT_SCENARIOS = scenarios("snapshots", {
  "a workspace has its baseline, and the snapshots that were made": async (at) => {
    const id = await at.create();
    const made = await at.client.createSnapshot(id, "one");
    assert.equal(made.snapshot.kind, "named");
    const { snapshots } = await at.client.listSnapshots(id);
    assert.deepEqual(
      snapshots.map(({ snapshot_name, kind }) => [snapshot_name, kind]),
      [
        ["baseline", "baseline"],
        ["one", "named"],
      ],
    );
    assert.equal(await at.refusal(at.client.createSnapshot(id, "one")), "SNAPSHOT_EXISTS");
    assert.equal(await at.refusal(at.client.createSnapshot(id, "baseline")), "SNAPSHOT_EXISTS");
    assert.equal(await at.refusal(at.client.resetWorkspace(id, { snapshot: "no" })), "SNAPSHOT_NOT_FOUND");
    await at.client.deleteSnapshot(id, "one");
    assert.equal(await at.refusal(at.client.deleteSnapshot(id, "one")), "SNAPSHOT_NOT_FOUND");
  },
  "a reset to the baseline brings the project back, and ends what ran": async (at) => {
    const id = await at.create();
    await at.out(id, `${CHANGE}; echo gone > /tmp/gone; echo gone > /home/agent/gone`);
    const before = await at.out(id, "cat /etc/machine-id");
    await at.client.startService(id, "runs", { command: "sleep 555" });
    const reset = await at.client.resetWorkspace(id);
    assert.deepEqual([reset.reset_count, reset.workspace_reset.snapshot_name], [1, "baseline"]);
    assert.equal(
      await at.out(
        id,
        "cat README.md src/main.txt run.sh; ls /tmp /home/agent; ls -d closed link sparse 2>/dev/null || true",
      ),
      "# A project\none\ntwo\nthree\necho ran\n/home/agent:\n\n/tmp:\n",
    );
    assert.equal((await at.client.diffWorkspace(id)).changed, false);
    assert.equal(
      await at.out(id, "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'sleep 55[5]' || true"),
      "0\n",
    );
    assert.equal((await at.client.listServices(id)).count, 0);
    assert.notEqual(await at.out(id, "cat /etc/machine-id"), before);
  },
  "a reset to a snapshot brings everything back as it was": async (at) => {
    const id = await at.create();
    await at.out(id, CHANGE);
    const saved = await describe(at, id);
    await at.client.createSnapshot(id, "kept");
    await at.out(id, "chmod 700 closed; rm -rf closed new link sparse; echo other > src/main.txt; echo late > late");
    await at.client.resetWorkspace(id, { snapshot: "kept" });
    assert.equal(await describe(at, id), saved);
    const { entries } = await at.client.diffWorkspace(id);
    assert.ok(entries.some(({ path, status }) => path === "/workspace/README.md" && status === "deleted"));
    assert.ok(entries.some(({ path, status }) => path === "/workspace/src/main.txt" && status === "modified"));
  },
  "snapshots stand on snapshots": async (at) => {
    const id = await at.create();
    for (const name of ["one", "two", "three"]) {
      await at.out(
        id,
        `echo ${name} > ${name}; echo ${name} >> src/main.txt; rm -f before-${name}; echo x > before-${name}`,
      );
      await at.client.createSnapshot(id, name);
      await at.client.resetWorkspace(id, { snapshot: name });
    }
    assert.equal(await at.out(id, "tail -n 3 src/main.txt; ls one two three"), "one\ntwo\nthree\none\nthree\ntwo\n");
    await at.out(id, "rm one; rm -r src; mkdir src; echo only > src/only");
    await at.client.createSnapshot(id, "four");
    await at.client.resetWorkspace(id, { snapshot: "one" });
    assert.equal(await at.out(id, "tail -n 1 src/main.txt; ls two 2>/dev/null || echo none"), "one\nnone\n");
    await at.client.resetWorkspace(id, { snapshot: "four" });
    assert.equal(await at.out(id, "ls src; ls one 2>/dev/null || echo none; cat two"), "only\nnone\ntwo\n");
  },
  "a snapshot leaves what runs alone": async (at) => {
    const id = await at.create();
    await at.client.startService(id, "ticks", {
      command: "while :; do echo tick >> ticks; sleep 0.05; done",
      readiness: { type: "file", path: "ticks" },
    });
    await at.client.createSnapshot(id, "during");
    const seen = Number(await at.out(id, "wc -l < ticks"));
    await at.eventually(async () => assert.ok(Number(await at.out(id, "wc -l < ticks")) > seen));
  },
  "a fork has the files of the moment, and goes its own way": async (at) => {
    const id = await at.create();
    await at.out(id, CHANGE);
    const saved = await describe(at, id);
    const fork = at.keep((await at.client.forkWorkspace(id, { name: "child" })).workspace_id);
    assert.equal(await describe(at, fork), saved);
    await at.out(fork, "echo theirs > new; rm link");
    assert.equal(await describe(at, id), saved);
    assert.equal(await at.out(fork, "hostname"), `${fork}\n`);
    await at.client.resetWorkspace(fork);
    assert.equal(await at.out(fork, "cat README.md"), "# A project\n");
  },
  "a fork of a snapshot has the snapshot's files, also without its parent": async (at) => {
    const id = await at.create();
    await at.out(id, "echo one > state");
    await at.client.createSnapshot(id, "one");
    await at.out(id, "echo two > state");
    const forks = await Promise.all([1, 2].map(() => at.client.forkWorkspace(id, { snapshot: "one" })));
    for (const { workspace_id } of forks) at.keep(workspace_id);
    await at.client.deleteWorkspace(id);
    for (const { workspace_id } of forks) assert.equal(await at.out(workspace_id, "cat state"), "one\n");
  },
  "a workspace that is stopped can be saved, forked and reset": async (at) => {
    const id = await at.create();
    await at.out(id, "echo kept > kept");
    await at.client.stopWorkspace(id);
    await at.client.createSnapshot(id, "stopped");
    const fork = at.keep((await at.client.forkWorkspace(id)).workspace_id);
    assert.equal(await at.out(fork, "cat kept"), "kept\n");
    await at.client.resetWorkspace(id, { snapshot: "stopped" });
    assert.equal(await at.out(id, "cat kept"), "kept\n");
  },
  "a diff since a snapshot has what changed after it": async (at) => {
    const id = await at.create();
    await at.out(
      id,
      "echo four >> src/main.txt; echo kept > kept; echo gone > gone; mkdir dir; echo same > dir/same; rm README.md",
    );
    await at.client.createSnapshot(id, "mid");
    await at.out(
      id,
      "echo five >> src/main.txt; echo more >> kept; rm gone; echo late > late; echo same > dir/same; echo '# A project' > README.md; rm run.sh",
    );
    const after = [
      "added README.md",
      "deleted gone",
      "modified kept",
      "added late",
      "deleted run.sh",
      "modified src/main.txt",
    ];
    assert.deepEqual(await changed(at, id, { since: "mid" }), after);
    const { patch } = await at.client.diffWorkspace(id, { since: "mid", path: "src" });
    assert.match(patch, /^ four\n\+five$/m);
    // Once the workspace stands on it, its own sandbox tells the same.
    await at.client.resetWorkspace(id, { snapshot: "mid" });
    assert.deepEqual(await changed(at, id, { since: "mid" }), []);
    await at.out(id, "echo five >> src/main.txt; rm -r dir; printf 'one\ntwo\nthree\n' > src/other.txt");
    const now = ["deleted dir/same", "modified src/main.txt", "modified src/other.txt"];
    assert.deepEqual(await changed(at, id, { since: "mid" }), now);
    assert.equal(await at.refusal(at.client.diffWorkspace(id, { since: "no" })), "SNAPSHOT_NOT_FOUND");
    assert.equal(await at.refusal(at.client.diffWorkspace(id, { since: "fork" })), "INVALID_ARGUMENT");
  },
  "a fork tells what changed in it: since it was forked, or always when it begins anew": async (at) => {
    const id = await at.create();
    await at.out(id, "mkdir lib; for i in 1 2 3; do echo $i > lib/$i; done; echo four >> src/main.txt; rm README.md");
    const edit = "echo two > lib/2; echo five >> src/main.txt; rm lib/3";
    const own = ["modified lib/2", "deleted lib/3", "modified src/main.txt"];
    const plain = at.keep(
      (await at.client.forkWorkspace(id, { labels: { attempt: "1" }, ttl_seconds: 600 })).workspace_id,
    );
    const rebased = at.keep((await at.client.forkWorkspace(id, { rebase: true })).workspace_id);
    for (const one of [plain, rebased]) await at.out(one, edit);
    const { labels, ttl_seconds } = await at.client.statusWorkspace(plain);
    assert.deepEqual(labels, { attempt: "1" });
    assert.equal(ttl_seconds, 600, "the fork has a time to live of its own");
    assert.deepEqual(await changed(at, plain, { since: "fork" }), own);
    assert.equal((await changed(at, plain)).length, 4);
    assert.deepEqual(await changed(at, rebased), own);
    const { patch } = await at.client.diffWorkspace(rebased);
    assert.match(patch, /^ four\n\+five$/m);
    assert.deepEqual((await at.client.summarizeWorkspace(rebased)).changes.summary.total, 3);
    await at.client.resetWorkspace(rebased);
    assert.equal(await at.out(rebased, "cat lib/3 src/main.txt"), "3\none\ntwo\nthree\nfour\n");
    assert.deepEqual(await changed(at, rebased), []);
    await at.client.resetWorkspace(plain);
    assert.deepEqual(await changed(at, plain, { since: "fork" }), [
      "added README.md",
      "deleted lib/1",
      "deleted lib/2",
      "deleted lib/3",
      "modified src/main.txt",
    ]);
  },
});
