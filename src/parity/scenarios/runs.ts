import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RunEnd } from "../../model/run.ts";
import { Manifest } from "../../sdk/manifest.ts";
import type { StartRunOptions } from "../../sdk/options.ts";
import type { ParityContext } from "../context.ts";
import { scenarios } from "../scenario.ts";
import { rpc } from "../supervise-call.ts";

const SKILL = "verify";
const SECRET = "a value that is taken";
const ANSWER = "a value that is asked for";
const TOKEN = "a token that only the gate has";
const UNLISTED = "unlisted.example.test";
const REQUEST = `GET http://${UNLISTED}/ HTTP/1.1\\r\\nHost: ${UNLISTED}\\r\\nConnection: close\\r\\n\\r\\n`;
/** Without a tool that an environment may lack. */
const ASK = `bash -c 'exec 3<>/dev/tcp/127.0.0.1/9099; printf "${REQUEST}" >&3; head -1 <&3'`;

/** One agent, whose program is a shell script; its bottle has one of everything. */
function manifestOf(at: ParityContext, script: string, supervise = false): Manifest {
  const bottle = {
    environment: at.target.environment,
    supervise,
    env: { TAKEN: "${HOST_VALUE}", ASKED: "?What is it", LITERAL: "just ${text}", EMPTY: "" },
    agent_provider: {
      template: "command",
      settings: { argv: ["/bin/sh", "-c", script, "agent", "{prompt}", "{prompt_file}"] },
    },
    egress: {
      routes: [
        { host: "docs.example.test" },
        { host: "api.example.test", auth: { scheme: "Bearer", token_ref: "API_TOKEN" } },
      ],
    },
    git: {
      user: { name: "Bottle", email: "bottle@example.com" },
      repos: { app: { url: "https://git.example.test:2222/app.git" } },
    },
  };
  const agent = { bottle: "dev", skills: [SKILL], git: { user: { name: "Agent" } }, prompt: "You are careful.\n" };
  return Manifest.fromObject({ bottles: { dev: bottle }, agents: { tester: agent } });
}

const PREFLIGHT = `
  agent         tester
  provider      command
  env           ASKED, EMPTY, LITERAL, TAKEN
  skills        ${SKILL}
  bottle        dev
  git identity  Agent <bottle@example.com>
  git gate      app → git.example.test:2222
  egress        docs.example.test
                api.example.test [auth:Bearer]

`;

const VALUES = { variables: { HOST_VALUE: SECRET, API_TOKEN: TOKEN }, answers: { ASKED: ANSWER } };

async function start(at: ParityContext, script: string, more: StartRunOptions = {}): Promise<string> {
  const skills = join(at.target.folder, "skills");
  await mkdir(join(skills, SKILL), { recursive: true });
  await writeFile(join(skills, SKILL, "SKILL.md"), "# verify\n");
  const { identity, workspace_id: id } = await at.client.startRun("tester", {
    manifest: manifestOf(at, script),
    backend: at.target.backend,
    project_path: at.project,
    headless: true,
    prompt: "the task",
    skills_path: skills,
    ...VALUES,
    ...more,
  });
  at.keep(id);
  return identity;
}

async function follow(at: ParityContext, identity: string): Promise<{ stdout: string; end: RunEnd }> {
  await using stream = await at.client.attachRun(identity);
  let stdout = "";
  for await (const { channel, data } of stream.output()) if (channel === "stdout") stdout += data.toString("utf8");
  return { stdout, end: await stream.result };
}

/** Prints what the agent was given; of secrets what tells that they are right. */
const SHOW = [
  'printf "%s|%s|%s|%s\\n" "$LITERAL" "$EMPTY" "$1" "$2"; printf %s "$TAKEN$ASKED" | sha256sum | cut -c1-16',
  "id -un; pwd; cat ~/.cloche/prompt.txt ~/.cloche/skills/verify/SKILL.md; cat ~/.gitconfig ~/.cloche/git.config",
  'echo "$HTTPS_PROXY $no_proxy"; test -s "$SSL_CERT_FILE" && echo has-ca; test "$API_TOKEN" != "" && echo has-stand-in',
  `${ASK}; cat /proc/self/environ | tr "\\0" "\\n" | grep -c -F "${TOKEN}"`,
].join("; ");

/** Asks the supervise door what there is to ask for, and for a package, which is no question where that cannot be. */
const OFFERED = [
  rpc("tools/list", {}),
  rpc("tools/call", { name: "capability-block", arguments: { justification: "no package is named" } }),
].join("; ");

export const RUN_SCENARIOS = scenarios("runs", {
  "a plan is shown byte for byte, and makes nothing": async (at) => {
    const before = await at.noteLeftovers();
    const manifest = manifestOf(at, "exit 0");
    const { backend } = at.target;
    const { preflight, plan } = await at.client.planRun("tester", { manifest, backend, project_path: at.project });
    assert.equal(preflight, PREFLIGHT);
    assert.deepEqual([plan.backend, plan.env_names], [backend, ["ASKED", "EMPTY", "LITERAL", "TAKEN"]]);
    await before();
  },
  "an agent finds its values, its prompt, its skills, its identity and its doors": {
    needs: { capability: "egress", ask: (at) => start(at, "exit 0") },
    run: async (at) => {
      const identity = await start(at, `${SHOW}; exit 0`);
      const { stdout, end } = await follow(at, identity);
      const { createHash } = await import("node:crypto");
      const digest = createHash("sha256").update(`${SECRET}${ANSWER}`).digest("hex").slice(0, 16);
      const lines = stdout.split("\n").filter((line) => line !== "");
      assert.deepEqual(lines.slice(0, 6), [
        "just ${text}||the task|/home/agent/.cloche/prompt.txt",
        digest,
        "agent",
        "/workspace",
        "You are careful.",
        "# verify",
      ]);
      const rest = lines.slice(6).join("\n");
      assert.match(rest, /Agent/);
      assert.match(rest, /bottle@example\.com/);
      assert.match(
        rest,
        /http:\/\/127\.0\.0\.1:9099 localhost,127\.0\.0\.1,::1\nhas-ca\nhas-stand-in\nHTTP\/1\.1 403 /,
      );
      assert.equal(lines.at(-1), "0", "the credential is in the sandbox");
      assert.deepEqual([end.exit_code, end.kept], [0, false]);
      assert.deepEqual((await at.client.listRuns({ all: true })).runs, []);
    },
  },
  "an agent may ask for another environment just where its backend can give it one": {
    needs: { capability: "egress", ask: (at) => start(at, "exit 0") },
    run: async (at) => {
      const identity = await start(at, OFFERED, { manifest: manifestOf(at, OFFERED, true) });
      const { stdout } = await follow(at, identity);
      const canChange = at.health.capabilities.remediation && at.target.environment !== "host";
      assert.match(stdout, /"name":"egress-block"/);
      assert.equal(stdout.includes('"name":"capability-block"'), canChange);
      assert.match(stdout, canChange ? /names no package and no step/ : /There is no such tool/);
      assert.deepEqual((await at.client.listApprovals({ identity })).proposals, []);
    },
  },
  "a run that failed is kept on its backend, taken up there, committed, begun with, and brought home": {
    needs: { capability: "egress", ask: (at) => start(at, "exit 0") },
    run: async (at) => {
      const script = "cat ~/note mark 2>/dev/null; echo home >> ~/note; echo ws >> mark; exit 3";
      const identity = await start(at, script, { copy_cwd: true });
      assert.deepEqual((await follow(at, identity)).end.exit_code, 3);
      const kept = (await at.client.listRuns({ all: true })).runs;
      assert.deepEqual(
        kept.map((run) => [run.identity, run.backend, run.environment, run.state]),
        [[identity, at.target.backend, at.target.environment, "ended"]],
      );
      const manifest = manifestOf(at, script);
      // Another backend in the bottle does not move it.
      await at.client.resumeRun(identity, {
        manifest,
        headless: true,
        prompt: "again",
        skills_path: join(at.target.folder, "skills"),
        ...VALUES,
      });
      assert.equal((await follow(at, identity)).stdout, "home\nws\n");
      await at.client.commitRun(identity);
      const next = await start(at, script, { from: identity });
      assert.equal((await follow(at, next)).stdout, "home\nhome\nws\nws\n");
      const checkout = join(at.target.folder, "no-checkout");
      await mkdir(checkout, { recursive: true });
      await assert.rejects(at.client.applyRun(next, { project_path: checkout }), { code: "CHECKOUT_INVALID" });
      const { removed } = await at.client.cleanUp({ all: true });
      const identities = removed.flatMap(({ identity: one }) => one ?? []).toSorted();
      assert.deepEqual(identities, [identity, next].toSorted());
    },
  },
});
