import assert from "node:assert/strict";
import { readFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../base/errors.ts";
import type { ParityContext } from "../context.ts";
import { scenarios } from "../scenario.ts";

const TOKEN = "tok-4f9c2e71d8ab-parity";
const secrets = [{ name: "TOKEN", value: TOKEN }];
const secret_env = { TOKEN: "T" };
const USABLE = `<[REDACTED]>\n${TOKEN.length}\n`;

const echo = (at: ParityContext, id: string) => at.out(id, 'echo "<$T>"; printf %s "$T" | wc -c', { secret_env });

export const SECRET_SCENARIOS = scenarios("secrets", {
  "a secret is where it was asked for, and nowhere else": async (at) => {
    const id = await at.create({ secrets });
    assert.equal(await echo(at, id), USABLE);
    assert.equal(
      await at.out(id, "env | grep -c tok- || true; cat /proc/1/environ 2>/dev/null | grep -c tok- || true"),
      "0\n0\n",
    );
    assert.deepEqual((await at.client.statusWorkspace(id)).secrets, [{ name: "TOKEN", source_kind: "literal" }]);
    assert.equal(await at.refusal(at.sh(id, "true", { secret_env: { NOPE: "N" } })), "SECRET_NOT_FOUND");
  },
  "a secret is redacted in results, streams, files, diffs, logs, shells and the journal": async (at) => {
    const id = await at.create({ secrets });
    await at.sh(id, 'echo "$T" > leaked.txt; echo "$T" >&2', { secret_env });
    assert.equal((await at.client.readWorkspaceFile(id, "leaked.txt")).content, "[REDACTED]\n");
    assert.ok(!(await at.client.diffWorkspace(id)).patch.includes(TOKEN));
    assert.ok(!JSON.stringify(await at.client.logsWorkspace(id)).includes(TOKEN));
    let streamed = "";
    const pieces = 'echo "$T" | fold -w 1 | while IFS= read -r c; do printf %s "$c"; sleep 0.01; done';
    for await (const event of at.client.streamWorkspace(id, { command: pieces, secret_env }))
      if (event.type === "stdout") streamed += event.data;
    assert.equal(streamed, "[REDACTED]");
    await at.client.startService(id, "says", {
      command: 'echo "$T"; touch said; sleep 600',
      secret_env,
      readiness: { type: "file", path: "said" },
    });
    assert.equal((await at.client.logsService(id, "says")).stdout, "[REDACTED]\n");
    const { shell_id: shell } = await at.client.openShell(id, { secret_env });
    await at.client.writeShell(id, shell, { input: 'echo "<$T>"' });
    await at.eventually(async () => assert.ok((await at.client.readShell(id, shell)).output.includes("<[REDACTED]>")));
  },
  "a secret outlives a reset, a stop and a fork, and is on no disk of the host": async (at) => {
    const id = await at.create({ secrets });
    await at.client.createSnapshot(id, "one");
    await at.client.resetWorkspace(id, { snapshot: "one" });
    assert.equal(await echo(at, id), USABLE);
    await at.client.stopWorkspace(id);
    await at.client.startWorkspace(id);
    assert.equal(await echo(at, id), USABLE);
    const fork = at.keep((await at.client.forkWorkspace(id)).workspace_id);
    assert.equal(await echo(at, fork), USABLE);
    assert.deepEqual(await filesWith(at.client.home, TOKEN), []);
  },
});

const MAX_SEARCHED_BYTES = 64 * 1024 * 1024;

/** Files below a folder that hold the text; what is too large to be a record is left out, such as a machine's memory. */
async function filesWith(folder: string, text: string): Promise<string[]> {
  const found: string[] = [];
  // A folder that is closed to the daemon's own user holds nothing that the daemon has written.
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (["EACCES", "ENOENT"].includes(errnoOf(error) ?? "")) return [];
    throw error;
  });
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await filesWith(path, text)));
    const size = entry.isFile()
      ? await stat(path).then(
          (found) => found.size,
          () => undefined,
        )
      : undefined;
    if (size === undefined || size > MAX_SEARCHED_BYTES) continue;
    const content = await readFile(path).catch(() => Buffer.alloc(0)); // went away meanwhile
    if (content.includes(text)) found.push(path);
  }
  return found;
}
