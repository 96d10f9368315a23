import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { listAgents } from "./list-agents.ts";
import { manifestFiles } from "./manifest-files.ts";

const folder = mkdtempSync(join(tmpdir(), "cloche-agents-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("G-25: the agents of a project are read no further when nobody waits for them", async () => {
  const agents = join(folder, ".cloche", "agents");
  mkdirSync(agents, { recursive: true });
  for (let at = 0; at < 200; at++) writeFileSync(join(agents, `a${at}.md`), "---\nbottle: dev\n---\n");
  const files = manifestFiles(join(folder, "home"), folder);
  const gone = new AbortController();
  let read = 0;
  const manifest = {
    ...files,
    agent(name: string) {
      if (++read === 3) gone.abort();
      return files.agent(name);
    },
  };
  await expect(listAgents(join(folder, "home"), manifest, gone.signal)).rejects.toThrow(/abort/);
  expect(read).toBeLessThan(10);
});
