import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Proposal } from "../../model/proposal.ts";
import { Manifest } from "../../sdk/manifest.ts";
import type { StartRunOptions } from "../../sdk/options.ts";
import type { ParityContext } from "../context.ts";
import { scenarios } from "../scenario.ts";
import { callTool, rpc } from "../supervise-call.ts";

const HOST = "asked.example.test";
const SECRET = "PARITY_HELD_SECRET";

interface Started {
  readonly identity: string;
  readonly workspace_id: string;
}

/** A run that may ask, whose program is a script. */
async function start(
  at: ParityContext,
  script: string,
  { bottle = {}, ...more }: StartRunOptions & { bottle?: object } = {},
): Promise<Started> {
  const { backend, environment } = at.target;
  const agent_provider = { template: "command", settings: { argv: ["/bin/sh", "-c", script] } };
  const manifest = Manifest.fromObject({
    bottles: { asks: { environment, agent_provider, ...bottle } },
    agents: { asks: { bottle: "asks", skills: [], prompt: "" } },
  });
  const asked = { manifest, backend, headless: true, prompt: "go", project_path: at.project, ...more };
  const started = await at.client.startRun("asks", asked);
  at.keep(started.workspace_id);
  return started;
}

/** Everything that a run prints, until it ends; in `heard` as it comes. */
async function follow(
  at: ParityContext,
  identity: string,
  heard = { text: "" },
): Promise<{ text: string; code: number | null }> {
  await using stream = await at.client.attachRun(identity);
  for await (const { data } of stream.output()) heard.text += data.toString("utf8");
  return { text: heard.text, code: (await stream.result).exit_code };
}

/** The one proposal that waits for an answer. */
async function waiting(at: ParityContext, identity: string, kind: Proposal["kind"]): Promise<Proposal> {
  let found: Proposal | undefined;
  await at.eventually(async () => {
    [found] = (await at.client.listApprovals({ identity, kind })).proposals;
    assert.ok(found, `no ${kind} waits`);
  });
  return found as Proposal;
}

/** What the gate answers to a request for the host, with a body that the sandbox's shell makes. */
const send = (method: string, path: string, body = ""): string => {
  const head = `${method} http://${HOST}${path} HTTP/1.1\\r\\nHost: ${HOST}\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n%s`;
  return `B="${body}" bash -c 'exec 3<>/dev/tcp/127.0.0.1/9099; printf "${head}" "\${#B}" "$B" >&3; cat <&3'; echo`;
};

/** Each answer begins with a line that names it. */
const told = (steps: Readonly<Record<string, string>>): string =>
  Object.entries(steps)
    .map(([name, command]) => `echo "=== ${name}"; ${command}`)
    .join("; ");
function answersOf(text: string): Record<string, string> {
  const parts = text.split(/^=== (\w+)\r?\n/m).slice(1);
  return Object.fromEntries(parts.flatMap((name, index) => (index % 2 === 0 ? [[name, parts[index + 1] ?? ""]] : [])));
}

const ASKING = told({
  before: send("GET", "/page"),
  asked: callTool("egress-block", { routes: [{ host: HOST }], justification: "to read it" }),
  after: send("GET", "/page"),
  refused: callTool("egress-block", { routes: [{ host: "other.example.test" }], justification: "to try" }),
  held: send("POST", "/first", `first \$${SECRET}`),
  stopped: send("POST", "/second", `second \$${SECRET}`),
});

/** Answers the four questions of the script, each as it comes. */
async function decide(at: ParityContext, identity: string): Promise<void> {
  const { client } = at;
  const route = await waiting(at, identity, "egress-block");
  assert.equal((await client.approveProposal(route.proposal_id)).status, "approved");
  const other = await waiting(at, identity, "egress-block");
  await client.rejectProposal(other.proposal_id, "use the mirror");
  const first = await waiting(at, identity, "dlp-allow");
  await assert.rejects(client.approveProposal(first.proposal_id), { code: "REASON_REQUIRED" });
  await client.approveProposal(first.proposal_id, { reason: "it is ours" });
  const second = await waiting(at, identity, "dlp-allow");
  await client.rejectProposal(second.proposal_id, "not twice");
}

const SIZE = { cols: 100, rows: 30 };
const TOOL = "/usr/local/bin/parity-tool";
const STEPS = [`printf '#!/bin/sh\\necho the tool is here\\n' >${TOOL}`, `chmod 755 ${TOOL}`];
/** Asks for a program and, once it is there, shows what it has kept and waits for a line from its terminal. */
const BUILDING = `if [ -x ${TOOL} ]; then ${TOOL}; cat note ~/.talk; echo ready; read line; echo "heard $line"; exit 7; fi
echo noted >note; echo talked >~/.talk; echo asking
${callTool("capability-block", { steps: STEPS, justification: "I need it" })}; sleep 600`;
/** Asks for steps, and says what it was told. Each life of it is a line of its home. */
const LOSING = `echo life >>~/.lives; echo "life $(wc -l <~/.lives)"; cat note
[ "$(wc -l <~/.lives)" = 1 ] || exit 7; echo noted >note
${callTool("capability-block", { steps: ["exit 5"], justification: "it fails" })}
${callTool("capability-block", { steps: ["rm -f /usr/bin/perl"], justification: "it takes my program" })}; sleep 600`;
/** Such an agent is a program of the environment's, which its new one may lack. */
const byPerl = (script: string): string[] => ["perl", "-e", "exec '/bin/sh', '-c', $ARGV[0]", script];
const OFFERED = `${rpc("tools/list", {})}; ${callTool("capability-block", { steps: STEPS, justification: "to try" })}`;

export const SUPERVISE_SCENARIOS = scenarios("supervise", {
  "what an agent is refused it asks for, and has without a restart; what is held goes on or not, as the operator says":
    {
      needs: { capability: "egress", ask: (at) => start(at, "exit 0") },
      run: async (at) => {
        const seen: string[] = [];
        const server = createServer((request, response) => {
          seen.push(`${request.method} ${request.url}`);
          request.resume().on("end", () => response.end("from the upstream"));
        });
        await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
        const connect = `127.0.0.1:${(server.address() as AddressInfo).port}`;
        const routes = [
          { host: HOST, connect, matches: [{ methods: ["POST"] }], dlp: { outbound_on_match: "supervise" } },
        ];
        const bottle = { env: { [SECRET]: `\${${SECRET}}` }, egress: { routes } };
        const variables = { [SECRET]: `sec-${randomBytes(20).toString("hex")}` };
        try {
          const { identity } = await start(at, ASKING, { bottle, variables });
          const [{ text }] = await Promise.all([follow(at, identity), decide(at, identity)]);
          const answers = answersOf(text);
          assert.match(answers["before"] ?? "", /^HTTP\/1\.1 403 [^]*"code":"EGRESS_DENIED"/);
          assert.match(answers["asked"] ?? "", /"structuredContent":\{[^]*"status":"approved"/);
          assert.match(answers["after"] ?? "", /^HTTP\/1\.1 200 [^]*from the upstream/);
          assert.match(answers["refused"] ?? "", /"status":"rejected"[^]*use the mirror/);
          assert.match(answers["held"] ?? "", /^HTTP\/1\.1 200 [^]*from the upstream/);
          assert.match(answers["stopped"] ?? "", /^HTTP\/1\.1 403 [^]*"code":"DLP_BLOCKED"[^]*not twice/);
          assert.deepEqual(seen, ["GET /page", "POST /first"]);
        } finally {
          server.close();
        }
      },
    },
  "an approved change of its environment gives a run its program, and leaves it its files, its home and its terminal": {
    needs: { capability: "egress", ask: (at) => start(at, "exit 0") },
    run: async (at) => {
      const { remediation } = at.health.capabilities;
      const canChange = remediation && at.target.environment !== "host";
      if (!canChange) {
        await isNotOffered(at, at.target.environment);
        return;
      }
      const { identity, workspace_id: id } = await start(at, BUILDING, { headless: false, terminal: SIZE });
      let environment = at.target.environment;
      try {
        await using stream = await at.client.attachRun(identity, { terminal: SIZE });
        let text = "";
        const reading = (async () => {
          for await (const { data } of stream.output()) {
            const before = text.includes("ready");
            text += data.toString("utf8");
            if (!before && text.includes("ready")) await stream.write("still you\r");
          }
        })();
        const { proposal_id } = await waiting(at, identity, "capability-block");
        assert.equal((await at.client.approveProposal(proposal_id)).status, "approved");
        await reading;
        assert.match(text, /asking[^]*the tool is here\r?\nnoted\r?\ntalked\r?\nready[^]*heard still you/);
        assert.equal((await stream.result).exit_code, 7);
        ({ environment } = await at.client.statusWorkspace(id));
        assert.match(environment, /^changed:/);
      } finally {
        await at.client.stopRun(identity);
        await at.client.cleanUp({ all: true });
        if (environment !== at.target.environment) await at.client.pruneEnvironments({ environments: [environment] }); // nobody else's, and as large as a system
      }
    },
  },
  "a change of its environment that fails leaves a run what it had: untouched, or started again in the old one": {
    needs: { capability: "egress", ask: (at) => start(at, "exit 0") },
    run: async (at) => {
      const { environment } = at.target;
      if (!at.health.capabilities.remediation || environment === "host") {
        await isNotOffered(at, environment);
        return;
      }
      const agent_provider = { template: "command", settings: { argv: byPerl(LOSING) } };
      const { identity, workspace_id: id } = await start(at, "", { bottle: { agent_provider } });
      const fails = async (code: string): Promise<string> => {
        const { proposal_id } = await waiting(at, identity, "capability-block");
        await assert.rejects(at.client.approveProposal(proposal_id), { code });
        assert.equal((await at.client.statusWorkspace(id)).environment, environment);
        assert.equal((await at.client.listApprovals({ proposal_id })).proposals[0]?.status, "pending");
        return proposal_id;
      };
      const heard = { text: "" };
      const following = follow(at, identity, heard);
      const first = await fails("ENVIRONMENT_BUILD_FAILED");
      // An answer that comes before the agent has heard why is all that it hears.
      await at.eventually(() => {
        assert.match(heard.text, /Step 1 failed: exit code 5/);
        return Promise.resolve();
      });
      await at.client.rejectProposal(first, "it does not work");
      await fails("AGENT_PROGRAM_NOT_FOUND");
      const { text, code } = await following;
      assert.match(text, /^life 1\r?\n[^]*Step 1 failed: exit code 5[^]*^life 2\r?\nnoted\r?\n/m);
      assert.equal(code, 7);
      await at.client.cleanUp({ all: true });
    },
  },
  "in the environment of the host no other one is offered, and nothing waits": {
    needs: { capability: "host_folders", ask: (at) => start(at, "exit 0", { bottle: { environment: "host" } }) },
    run: async (at) => await isNotOffered(at, "host"),
  },
});

async function isNotOffered(at: ParityContext, environment: string): Promise<void> {
  const { identity } = await start(at, OFFERED, { bottle: { environment } });
  const { text } = await follow(at, identity);
  assert.match(text, /"name":"egress-block"/);
  assert.ok(!text.includes('"name":"capability-block"'), text);
  assert.match(text, /There is no such tool/);
  assert.deepEqual((await at.client.listApprovals({ identity })).proposals, []);
}
