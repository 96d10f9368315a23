import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Manifest } from "../../sdk/manifest.ts";
import type { ParityContext } from "../context.ts";
import { hostilePushes, pushOf } from "../git-pushes.ts";
import { scenarios } from "../scenario.ts";

/** A bare repository with one commit. */
function makeUpstream(path: string): { commit: string; refs: () => string[] } {
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
  return { commit, refs: () => git("for-each-ref", "--format=%(refname)").split("\n") };
}

/** As git asks, without git: an environment may lack it. */
const ask = (at: ParityContext, id: string, path: string): Promise<string> =>
  at.out(
    id,
    `bash -c 'exec 3<>/dev/tcp/127.0.0.1/9418; printf "GET ${path} HTTP/1.0\\r\\n\\r\\n" >&3; cat <&3' | tr -d "\\000"`,
  );

const SECRET = "PARITY_GIT_SECRET";

async function start(at: ParityContext, url: string) {
  const { backend, environment } = at.target;
  const agent_provider = { template: "command", settings: { argv: ["/bin/sh", "-c", "exec sleep 600"] } };
  const git = { repos: { app: { url, rules: { branches: ["agent/*"], tags: "allow" } } } };
  const bottle = { environment, supervise: false, agent_provider, env: { KEPT: `\${${SECRET}}` }, git };
  const manifest = Manifest.fromObject({
    bottles: { git: bottle },
    agents: { git: { bottle: "git", skills: [], prompt: "" } },
  });
  const secret = `sec-${randomBytes(20).toString("hex")}`;
  const variables = { [SECRET]: secret };
  const options = { manifest, backend, headless: true, prompt: "go", project_path: at.project, variables };
  return { ...(await at.client.startRun("git", options)), secret };
}

/** Sends pushes as they are, one after the other, and gives what each is told. */
async function send(at: ParityContext, id: string, bodies: readonly Buffer[]): Promise<string[]> {
  const text = Buffer.concat(bodies).toString("base64");
  await at.client.writeWorkspaceFile(id, "pushes", { text, encoding: "base64" });
  const script = `o=1; for n in ${bodies.map(({ length }) => length).join(" ")}; do exec 3<>/dev/tcp/127.0.0.1/9418; { printf "POST /app.git/git-receive-pack HTTP/1.0\\r\\ncontent-length: $n\\r\\n\\r\\n"; tail -c +$o pushes | head -c $n; } >&3; cat <&3; echo "=== over"; o=$((o + n)); done`;
  const told = await at.out(id, `bash -c '${script}' | tr -d "\\000"`);
  return told.split("=== over").slice(0, -1);
}

export const GIT_GATE_SCENARIOS = scenarios("git gate", {
  "a run's repositories are at its git door, and no push gets a secret or a trick past it": {
    needs: { capability: "egress", ask: (at) => start(at, "file:///nowhere.git") },
    run: async (at) => {
      const path = join(at.target.folder, `upstream-${at.target.backend}.git`);
      const { commit, refs: upstreamRefs } = makeUpstream(path);
      const { identity, workspace_id: id, secret } = await start(at, pathToFileURL(path).href);
      try {
        const refs = await ask(at, id, "/app.git/info/refs?service=git-upload-pack");
        assert.match(refs, /^HTTP\/1\.1 200 [^]*x-git-upload-pack-advertisement/);
        assert.ok(refs.includes(`${commit} refs/heads/main`), refs);
        assert.match(
          await ask(at, id, "/other.git/info/refs?service=git-upload-pack"),
          /^HTTP\/1\.1 404 [^]*declared are: app/,
        );
        assert.match(await at.out(id, "cat /home/agent/.cloche/git.config"), /127\.0\.0\.1:9418\/app/);
        const pushes = hostilePushes(secret);
        const clean = pushOf([{ name: "f", text: "fine\n" }], "refs/heads/agent/clean");
        const told = await send(at, id, [...pushes.map(({ body }) => body), clean]);
        for (const [index, push] of pushes.entries()) {
          assert.match(told[index] ?? "", push.told, push.name);
          assert.ok(!told[index]?.includes(secret), `${push.name}: the answer shows the secret`);
        }
        assert.match(told.at(-1) ?? "", /ok refs\/heads\/agent\/clean/);
        assert.deepEqual(upstreamRefs(), ["refs/heads/agent/clean", "refs/heads/main"]);
      } finally {
        await at.client.stopRun(identity);
        await at.client.cleanUp({ all: true });
      }
    },
  },
});
