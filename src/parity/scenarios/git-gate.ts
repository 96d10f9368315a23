import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Manifest } from "../../sdk/manifest.ts";
import type { ParityContext } from "../context.ts";
import { scenarios } from "../scenario.ts";

/** A bare repository with one commit; gives its id. */
function makeUpstream(path: string): string {
  mkdirSync(path, { recursive: true });
  const person = { NAME: "host", EMAIL: "host@localhost" };
  const env = {
    PATH: process.env["PATH"],
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    ...Object.fromEntries(
      Object.entries(person).flatMap(([key, value]) => [
        [`GIT_AUTHOR_${key}`, value],
        [`GIT_COMMITTER_${key}`, value],
      ]),
    ),
  };
  const git = (...words: string[]) =>
    execFileSync("git", ["-C", path, ...words], {
      env,
      input: "",
      encoding: "utf8",
      stdio: ["pipe", "pipe", "pipe"],
    }).trim();
  git("init", "--quiet", "--bare", "--initial-branch=main");
  const commit = git("commit-tree", "-m", "first", git("mktree"));
  git("update-ref", "refs/heads/main", commit);
  return commit;
}

/** As git asks, without git: an environment may lack it. */
const ask = (at: ParityContext, id: string, path: string): Promise<string> =>
  at.out(
    id,
    `bash -c 'exec 3<>/dev/tcp/127.0.0.1/9418; printf "GET ${path} HTTP/1.0\\r\\n\\r\\n" >&3; cat <&3' | tr -d "\\000"`,
  );

async function start(at: ParityContext, url: string) {
  const { backend, environment } = at.target;
  const agent_provider = { template: "command", settings: { argv: ["/bin/sh", "-c", "exec sleep 600"] } };
  const bottle = { environment, supervise: false, agent_provider, git: { repos: { app: { url } } } };
  const manifest = Manifest.fromObject({
    bottles: { git: bottle },
    agents: { git: { bottle: "git", skills: [], prompt: "" } },
  });
  return await at.client.startRun("git", { manifest, backend, headless: true, prompt: "go", project_path: at.project });
}

export const GIT_GATE_SCENARIOS = scenarios("git gate", {
  "a run's repositories are at its git door, and no others": {
    needs: { capability: "egress", ask: (at) => start(at, "file:///nowhere.git") },
    run: async (at) => {
      const path = join(at.target.folder, `upstream-${at.target.backend}.git`);
      const commit = makeUpstream(path);
      const { identity, workspace_id: id } = await start(at, pathToFileURL(path).href);
      try {
        const refs = await ask(at, id, "/app.git/info/refs?service=git-upload-pack");
        assert.match(refs, /^HTTP\/1\.1 200 [^]*x-git-upload-pack-advertisement/);
        assert.ok(refs.includes(`${commit} refs/heads/main`), refs);
        assert.match(
          await ask(at, id, "/other.git/info/refs?service=git-upload-pack"),
          /^HTTP\/1\.1 404 [^]*declared are: app/,
        );
        assert.match(await at.out(id, "cat /home/agent/.cloche/git.config"), /127\.0\.0\.1:9418\/app/);
      } finally {
        await at.client.stopRun(identity);
        await at.client.cleanUp({ all: true });
      }
    },
  },
});
