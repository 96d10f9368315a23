import assert from "node:assert/strict";
import { scenarios } from "../scenario.ts";

export const SHELL_SCENARIOS = scenarios("shells", {
  "a shell is typed into, read, resized and closed": async (at) => {
    const id = await at.shared();
    const shell = await at.client.openShell(id, { cols: 100, rows: 30, cwd: "src" });
    assert.deepEqual([shell.state, shell.cols, shell.rows, shell.cwd], ["running", 100, 30, "/workspace/src"]);
    const type = (input: string) => at.client.writeShell(id, shell.shell_id, { input });
    const shows = (text: string) =>
      at.eventually(async () => {
        const { output } = await at.client.readShell(id, shell.shell_id, { plain: true });
        assert.ok(output.includes(text), `${text} in ${output}`);
      });
    await type("kept=42; pwd; stty size");
    await shows("/workspace/src");
    await shows("30 100");
    await at.client.resizeShell(id, shell.shell_id, { cols: 70, rows: 20 });
    await type("echo $kept-$((40+2)); stty size");
    await shows("42-42");
    await shows("20 70");
    assert.equal((await at.client.closeShell(id, shell.shell_id)).closed, true);
    assert.equal(await at.refusal(at.client.readShell(id, shell.shell_id)), "SHELL_NOT_FOUND");
  },
  "a signal interrupts what runs in a shell, which goes on": async (at) => {
    const id = await at.shared();
    const { shell_id: shell } = await at.client.openShell(id);
    await at.client.writeShell(id, shell, { input: "sh -c 'echo start-$((1+1)); exec sleep 777'" });
    const shows = (text: string) =>
      at.eventually(async () => assert.ok((await at.client.readShell(id, shell)).output.includes(text)));
    await shows("start-2");
    await at.client.signalShell(id, shell);
    await at.client.writeShell(id, shell, { input: "echo on-$((2+2))" });
    await shows("on-4");
    await at.client.writeShell(id, shell, { input: "exit 6" });
    await at.eventually(async () => assert.equal((await at.client.readShell(id, shell)).state, "exited"));
    assert.equal(await at.refusal(at.client.writeShell(id, shell, { input: "x" })), "SHELL_NOT_RUNNING");
    await at.client.closeShell(id, shell);
  },
  "shells are listed while they are there, and say in which workspace one is": async (at) => {
    const id = await at.shared();
    const { name } = await at.client.statusWorkspace(id);
    const { shell_id: shell } = await at.client.openShell(id, { cwd: "src" });
    const listed = async () =>
      (await at.client.listShells(id)).shells.filter(({ shell_id: one }) => one === shell).map((one) => one.state);
    assert.deepEqual(await listed(), ["running"]);
    const prompt = `${name ?? id} $ `;
    await at.eventually(async () => {
      const { output } = await at.client.readShell(id, shell, { plain: true });
      assert.ok(output.startsWith(prompt.trimEnd()), output);
    });
    await at.client.writeShell(id, shell, { input: "exit 3" });
    await at.eventually(async () => assert.deepEqual(await listed(), ["exited"]));
    await at.client.closeShell(id, shell);
    assert.deepEqual(await listed(), []);
  },
  "a shell can be sat down at": async (at) => {
    const id = await at.shared();
    const { shell_id: shell } = await at.client.openShell(id);
    const stream = at.client.attachShell(id, shell, { cols: 80, rows: 24 });
    await stream.write("echo here-$((3+3)); exit 5\n");
    let seen = "";
    for await (const data of stream.output()) seen += data.toString();
    assert.ok(seen.includes("here-6"), seen);
    assert.deepEqual([(await stream.result).state, (await stream.result).exit_code], ["exited", 5]);
    await at.client.closeShell(id, shell);
  },
});
