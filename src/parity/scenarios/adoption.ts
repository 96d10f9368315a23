import assert from "node:assert/strict";
import { scenarios } from "../scenario.ts";

export const ADOPTION_SCENARIOS = scenarios("adoption", {
  "after kill -9 of the daemon everything goes on: files, services, shells, secrets": async (at) => {
    const TOKEN = "tok-adopted-0123456789";
    const id = await at.create({ secrets: [{ name: "TOKEN", value: TOKEN }] });
    await at.out(id, "echo kept > kept; echo there > /tmp/there");
    await at.client.startService(id, "ticks", {
      command: "echo up; while :; do echo tick >> ticks; sleep 0.1; done",
      readiness: { type: "file", path: "ticks" },
    });
    const { shell_id: shell } = await at.client.openShell(id);
    await at.client.writeShell(id, shell, { input: "mine=held" });
    await at.killDaemon();
    assert.equal((await at.client.statusWorkspace(id)).state, "started");
    assert.equal(await at.out(id, "cat kept /tmp/there"), "kept\nthere\n");
    assert.equal((await at.client.statusService(id, "ticks")).state, "running");
    assert.equal((await at.client.logsService(id, "ticks")).stdout, "up\n");
    await at.client.writeShell(id, shell, { input: "echo $mine-$((1+1))" });
    await at.eventually(async () => assert.ok((await at.client.readShell(id, shell)).output.includes("held-2")));
    assert.equal(await at.out(id, 'echo "$T"', { secret_env: { TOKEN: "T" } }), "[REDACTED]\n");
    await at.client.createSnapshot(id, "after");
    await at.client.resetWorkspace(id, { snapshot: "after" });
    assert.equal(await at.out(id, "cat kept"), "kept\n");
  },
  "a command that runs meanwhile is read on to its end": async (at) => {
    const id = await at.create();
    const stream = at.client.openCommand(id, {
      command: "for i in 1 2 3 4 5 6; do echo line-$i; sleep 0.3; done; exit 8",
    });
    let seen = "";
    for await (const { data } of stream.output()) {
      if (seen === "") await at.killDaemon();
      seen += data.toString();
    }
    assert.equal(seen, "line-1\nline-2\nline-3\nline-4\nline-5\nline-6\n");
    assert.equal((await stream.result).exit_code, 8);
    assert.equal((await at.client.logsWorkspace(id)).entries[0]?.exit_code, 8);
  },
  "what was being made when the daemon was killed is undone": async (at) => {
    const expectNothingLeft = await at.noteLeftovers();
    const count = (await at.client.listWorkspaces()).count;
    const creating = at.create().catch(() => undefined);
    await new Promise((done) => setTimeout(done, 30));
    await at.killDaemon();
    await creating;
    const after = await at.client.listWorkspaces();
    // Either it was made in time, and then it works, or nothing of it is there.
    for (const { workspace_id: id } of after.workspaces.slice(0, after.count - count)) {
      at.keep(id);
      assert.equal(await at.out(id, "echo whole"), "whole\n");
      await at.client.deleteWorkspace(id);
    }
    await expectNothingLeft();
  },
  "a workspace can be deleted by the next daemon, and leaves nothing": async (at) => {
    const expectNothingLeft = await at.noteLeftovers();
    const id = await at.create();
    await at.killDaemon();
    await at.client.deleteWorkspace(id);
    await expectNothingLeft();
  },
});
