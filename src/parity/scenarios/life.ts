import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { scenarios } from "../scenario.ts";

export const LIFE_SCENARIOS = scenarios("life", {
  "a workspace says what it is, and is listed": async (at) => {
    const { backend, environment } = at.target;
    const id = await at.create({ name: "first", labels: { team: "a" }, mem_mib: 512, vcpu_count: 1 });
    const status = await at.client.statusWorkspace(id);
    assert.deepEqual(
      [
        status.state,
        status.backend,
        status.environment,
        status.name,
        status.labels,
        status.network_policy,
        status.reset_count,
      ],
      ["started", backend, environment, "first", { team: "a" }, "off", 0],
    );
    assert.deepEqual(status.workspace_seed.mode, "directory");
    const listed = await at.client.listWorkspaces();
    assert.ok(listed.workspaces.some((one) => one.workspace_id === id));
    const updated = await at.client.updateWorkspace(id, {
      name: "second",
      labels: { more: "b" },
      clear_labels: ["team"],
    });
    assert.deepEqual([updated.name, updated.labels], ["second", { more: "b" }]);
  },
  "a workspace is found by the beginning of its id, and by its name": async (at) => {
    const id = await at.shared();
    const name = `named-${id.slice(3)}`;
    await at.client.updateWorkspace(id, { name });
    assert.equal((await at.client.statusWorkspace(name)).workspace_id, id);
    assert.equal((await at.client.statusWorkspace(id.slice(0, 11))).workspace_id, id);
    assert.equal(await at.refusal(at.client.statusWorkspace("ws-0000000000")), "WORKSPACE_NOT_FOUND");
  },
  "a workspace that is stopped has its files, and nothing that runs": async (at) => {
    const id = await at.create();
    await at.out(id, "echo kept > kept; mkdir sub; echo x > /tmp/gone");
    await at.client.startService(id, "runs", { command: "sleep 888" });
    assert.equal((await at.client.stopWorkspace(id)).state, "stopped");
    assert.equal((await at.client.stopWorkspace(id)).state, "stopped");
    assert.equal(await at.refusal(at.sh(id, "true")), "WORKSPACE_NOT_RUNNING");
    assert.equal((await at.client.diffWorkspace(id)).summary.total, 1);
    assert.equal((await at.client.startWorkspace(id)).state, "started");
    assert.equal(await at.out(id, "cat kept; ls /tmp; ls -d sub"), "kept\nsub\n");
    assert.equal(
      await at.out(id, "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'sleep 88[8]' || true"),
      "0\n",
    );
  },
  "the disk of a stopped workspace is listed, read and exported": async (at) => {
    const id = await at.create();
    await at.out(id, "echo kept > kept");
    assert.equal(await at.refusal(at.client.readWorkspaceDisk(id, "kept")), "WORKSPACE_NOT_STOPPED");
    await at.client.stopWorkspace(id);
    assert.equal((await at.client.readWorkspaceDisk(id, "kept")).content, "kept\n");
    const { entries } = await at.client.listWorkspaceDisk(id);
    assert.deepEqual(
      entries.map(({ path }) => path),
      ["/workspace/README.md", "/workspace/kept", "/workspace/run.sh", "/workspace/src"],
    );
    const output_path = join(await at.folder(), "disk.tar");
    await at.client.exportWorkspaceDisk(id, { output_path });
    assert.ok((await readFile(output_path)).includes("kept\n"));
    assert.equal((await at.client.startWorkspace(id)).state, "started");
  },
  "a workspace that is deleted is gone, with everything that it was made of": async (at) => {
    const expectNothingLeft = await at.noteLeftovers();
    const id = await at.create();
    await at.client.startService(id, "runs", { command: "sleep 999" });
    await at.client.createSnapshot(id, "one");
    assert.deepEqual(await at.client.deleteWorkspace(id), { workspace_id: id, deleted: true });
    assert.equal(await at.refusal(at.client.statusWorkspace(id)), "WORKSPACE_NOT_FOUND");
    await expectNothingLeft();
  },
  "a workspace that nobody uses goes when its time is over": async (at) => {
    const expectNothingLeft = await at.noteLeftovers();
    const id = await at.create({ ttl_seconds: 1 });
    await at.eventually(async () =>
      assert.equal(await at.refusal(at.client.statusWorkspace(id)), "WORKSPACE_NOT_FOUND"),
    );
    await expectNothingLeft();
  },
  "a workspace with changes is kept when its time is over, and start brings it back": async (at) => {
    const id = await at.create();
    await at.out(id, "echo kept > kept");
    await at.client.startService(id, "runs", { command: "sleep 888" });
    const { last_activity_at: before } = await at.client.updateWorkspace(id, { ttl_seconds: 1 });
    // What runs is activity: it is looked at, and left alone.
    await at.eventually(async () =>
      assert.ok((await at.client.statusWorkspace(id)).last_activity_at > before + 0.9, "it was not looked at"),
    );
    assert.equal((await at.client.statusWorkspace(id)).state, "started");
    await at.client.stopService(id, "runs");
    await at.eventually(async () => assert.equal((await at.client.statusWorkspace(id)).state, "expired"));
    assert.equal(await at.refusal(at.sh(id, "true")), "WORKSPACE_NOT_RUNNING");
    await at.killDaemon();
    const expired = await at.client.updateWorkspace(id, { ttl_seconds: 600 });
    assert.deepEqual([expired.state, expired.running_service_count], ["expired", 0]);
    assert.equal((await at.client.readWorkspaceDisk(id, "kept")).content, "kept\n");
    assert.equal((await at.client.startWorkspace(id)).state, "started");
    assert.equal(await at.out(id, "cat kept"), "kept\n");
  },
  "a creation that is cancelled leaves nothing": async (at) => {
    const expectNothingLeft = await at.noteLeftovers();
    const cancel = new AbortController();
    const creating = at.create({ signal: cancel.signal });
    setImmediate(() => cancel.abort());
    assert.equal(await at.refusal(creating), "CANCELLED");
    await expectNothingLeft();
  },
  "an environment is prepared, and proved by a workspace that leaves nothing": async (at) => {
    const { backend, environment } = at.target;
    const expectNothingLeft = await at.noteLeftovers();
    const prepared = await at.client.prepare({ backend, environment });
    assert.deepEqual([prepared.backend, prepared.environment, prepared.ready], [backend, environment, true]);
    assert.deepEqual(
      prepared.steps.map(({ step }) => step),
      ["environment", "backend", "create", "exec", "reset", "delete"],
    );
    await expectNothingLeft();
  },
  "several are created side by side": async (at) => {
    const ids = await Promise.all(Array.from({ length: 4 }, () => at.create()));
    assert.deepEqual(
      await Promise.all(ids.map((id) => at.out(id, "hostname"))),
      ids.map((id) => `${id}\n`),
    );
  },
});
