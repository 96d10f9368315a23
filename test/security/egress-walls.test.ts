import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, cpSync, linkSync, mkdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { goProgram } from "../helpers/agents.ts";
import { DockerEngine } from "../helpers/docker-engine.ts";
import { DoorsInstallation } from "../helpers/doors.ts";
import { Installation } from "../helpers/installation.ts";
import { Outside } from "../helpers/outside.ts";
import { SmolvmStandIn } from "../helpers/smolvm-stand-in.ts";
import { GitServer, PackageRegistry } from "../helpers/package-servers.ts";

const REGISTRY = "registry.example.test";
const CODE = "code.below.example.test";
const WILD = "any.below.example.test";
const LISTED = "listed.example.test";
const UNLISTED = "unlisted.example.test";
const OTHERS = "others.example.test";
const ABSTRACT = `cloche-test-${process.pid}`;
const API = "api.example.test";
const SECRET = `sec-${randomBytes(14).toString("hex")}`;
const TOKEN = `tok-${randomBytes(20).toString("hex")}`;
const fixture = (name: string): string => readFileSync(new URL(`../fixtures/${name}.py`, import.meta.url), "utf8");
/** Programs for a sandbox, each with what both have. */
const [ATTACKS, LEAKS] = ["egress-attacks", "egress-leaks"].map((name) => fixture("egress-attempts") + fixture(name));
const withoutProxy = (url: string): string => `from urllib.request import ProxyHandler, build_opener
print(build_opener(ProxyHandler({})).open("${url}").read().decode(), end="")`;
const PUSHED_NPM = "/workspace/npm/node /workspace/npm/npm/bin/npm-cli.js";
/** A machine that is the first of its environment boots once. */
const OPEN_MS = 300_000;

const WALLS = [
  { backend: "container", environment: "host", npm: "npm" },
  { backend: "docker", environment: "host", npm: "npm" },
  // npm works there too, and takes more than a minute to start where the processor is emulated.
  { backend: "vm", environment: "debian:12", npm: null },
  // The environment has none: Node and npm are brought along.
  { backend: "smolmachines", environment: "debian:12", npm: PUSHED_NPM },
] as const;

describe.each(WALLS)("a sandbox with network policy egress, backend $backend", ({ backend, environment, npm }) => {
  let engine: DockerEngine | undefined;
  let smolvm: SmolvmStandIn | undefined;
  let at: DoorsInstallation;
  let outside: Outside;
  let listener: ChildProcess;
  let id: string;
  const run = async (command: string | string[], more: object = {}) => {
    const { exit_code, stdout, stderr } = await at.sdk.execWorkspace(id, { command, timeout_seconds: 100, ...more });
    return { code: exit_code, out: stdout, all: stdout + stderr };
  };

  /** What became of each attempt of a program. */
  const attempts = async (program = "", plan: string): Promise<Record<string, string>> => {
    const { out, all } = await run(["/usr/bin/python3", "-c", program, plan]);
    return JSON.parse(out === "" ? `{"failed": ${JSON.stringify(all)}}` : out) as Record<string, string>;
  };

  beforeAll(async () => {
    if (backend === "docker") engine = await DockerEngine.start();
    if (backend === "smolmachines") smolvm = new SmolvmStandIn();
    at = new DoorsInstallation(new Installation(`w${backend.slice(0, 1)}`, engine?.env ?? smolvm?.env));
    outside = await new Outside().open(at.at, [REGISTRY, CODE, LISTED, UNLISTED, OTHERS, API, WILD]);
    const made = await at.sdk.createWorkspace({
      backend,
      environment,
      egress: {
        routes: [
          ...[LISTED, REGISTRY, "*.below.example.test"].map((host) => ({ host })),
          { host: API, auth: { scheme: "Bearer", token_ref: "API_TOKEN" } },
        ],
      },
      egress_tokens: { API_TOKEN: TOKEN },
      secrets: [{ name: "DEPLOY_KEY", value: SECRET }],
    });
    id = made.workspace_id;
    serve(at.at, outside);
    listener = await abstractListener();
  }, OPEN_MS);

  afterAll(async () => {
    listener.kill();
    await at.sdk.close();
    await at.at[Symbol.asyncDispose]();
    await outside[Symbol.asyncDispose]();
    await engine?.[Symbol.asyncDispose]();
    await smolvm?.remove();
  }, OPEN_MS);

  it("installs a package and clones a repository with nothing but listed hosts", async () => {
    if (npm !== null) {
      if (npm === PUSHED_NPM) await at.sdk.pushWorkspaceSync(id, nodeAndNpm(at.at), { dest: "npm" });
      const install = `${npm} install fzstd --no-audit --no-fund --registry https://${REGISTRY}/`;
      const installed = await run(
        `mkdir /tmp/project && cd /tmp/project && ${install} && ls node_modules/fzstd/package.json`,
      );
      expect(installed.all).toContain("node_modules/fzstd/package.json");
    }
    const cloned = await run(`git clone -q https://${CODE}/real.git /tmp/clone && cat /tmp/clone/file`);
    expect(cloned.all).toBe("from the repository\n");
    // And without any variable: by names, and by what the system trusts.
    const bare = await run(`env -i PATH=$PATH git clone -q https://${CODE}/real.git /tmp/bare && cat /tmp/bare/file`);
    expect(bare.all).toBe("from the repository\n");
    expect(new Set(outside.asked)).toEqual(new Set([`${CODE}:443`, ...(npm === null ? [] : [`${REGISTRY}:443`])]));
  });

  it("G-44 finds no way out but to listed hosts, by whatever form, transport or socket", async () => {
    outside.asked.length = 0;
    outside.upstream.seen.length = 0;
    const gate = join(at.at.home, "workspaces", id, "gate/control.sock");
    const paths = [gate, join(at.at.home, "daemon.sock"), "/run/docker.sock", "/var/run/docker.sock"];
    const plan = JSON.stringify([LISTED, UNLISTED, outside.port, ABSTRACT, paths]);
    const results = await attempts(ATTACKS, plan);
    const expected: readonly [RegExp, RegExp][] = [
      [
        /^tunnel other (?:Host|authority)|^tunnel two|^tunnel whole|^request|^address (?:plain )?other Host/,
        /EGRESS_DENIED|400 Bad Request/,
      ],
      [/^tunnel in a tunnel/, /403 Forbidden|400 Bad Request|EGRESS_DENIED/],
      [/^tunnel (?:other handshake)|^address other handshake|^address of nobody|^address localhost/, /^error: |^$/],
      [/^tunnel/, /^error: HTTP\/1\.1 403|^error: HTTP\/1\.1 400/],
      [/^redirect/, /^error: .*403/],
      [/^address other port|^direct host|^abstract/, /^error: .*refused/],
      [/^question (?:unlisted|text)/, /^code 3, 0 answers$/],
      [/^question listed text/, /^code 0, 0 answers$/],
      [/^question|^direct/, /^error: .*(?:unreachable|refused|Cannot assign|Invalid|timed out)/i],
      [/^path/, /^error: .*(?:No such file|Permission denied|refused)/],
      [/^raw|^packet|^vsock|^interface/, /^error: /],
      [/^netlink/, /not permitted|not supported|^error: /],
    ];
    for (const [name, result] of Object.entries(results))
      expect(result, name).toMatch(expected.find(([names]) => names.test(name))?.[1] ?? /never/);
    expect(Object.keys(results).length).toBeGreaterThan(60);
    expect(outside.upstream.seen.map(({ url }) => url)).toEqual(["/redirect"]);
    expect(outside.asked).toEqual([`${LISTED}:443`]);
  });

  it("G-37 G-50 G-56 gets no secret and no stand-in out to a listed host, and no request that can be read in two ways", async () => {
    outside.upstream.seen.length = 0;
    const results = await attempts(LEAKS, JSON.stringify([LISTED, "below.example.test", API, SECRET]));
    const expected: readonly [RegExp, RegExp][] = [
      [/^leak host/, /^HTTP\/1\.1 403 .*(?:DLP_BLOCKED|EGRESS_DENIED)/s],
      [/^leak|^stand-in/, /^HTTP\/1\.1 403 .*DLP_BLOCKED/s],
      [/^pass/, /^HTTP\/1\.1 302 /],
      [/^home/, /^HTTP\/1\.1 200 /],
      [/^smuggle/, /^(?:HTTP\/1\.1 4\d\d |$|error: .*reset)/],
    ];
    for (const [name, result] of Object.entries(results))
      expect(result, name).toMatch(expected.find(([names]) => names.test(name))?.[1] ?? /never/);
    expect(Object.keys(results).length).toBeGreaterThan(85);
    const { seen } = outside.upstream;
    expect(seen.map(({ url }) => url).filter((url) => url.includes("two") || url.includes("//"))).toEqual([]);
    expect(seen.filter(({ headers }) => headers.host === API).map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${TOKEN}`,
    ]);
    // The harmless ones, the one that goes home, and the first half of what was cut.
    expect(seen).toHaveLength(10);
  });

  it("has tools that know no proxy reach listed hosts by name", async () => {
    const tools = at.at.path("tools");
    mkdirSync(tools);
    linkSync(goProgram(), join(tools, basename(goProgram())));
    await at.sdk.pushWorkspaceSync(id, tools, { dest: "tools" });
    const hasCurl = (await run("command -v curl")).code === 0;
    expect(hasCurl || environment === "debian:12").toBe(true); // which has none, but git with its library
    for (const at of [`https://${API}`, `https://${WILD}`]) {
      const commands = {
        ...(hasCurl && {
          curl: `curl -sS --noproxy '*' ${at}/curl`,
          bareCurl: `env -i PATH=$PATH curl -sS ${at}/bareCurl`,
        }),
        python: `/usr/bin/python3 -c '${withoutProxy(`${at}/python`)}'`,
        go: `env -i PATH=$PATH HOME=$HOME /workspace/tools/ask ${at}/go`,
      };
      for (const [tool, command] of Object.entries(commands)) {
        outside.upstream.seen.length = 0;
        expect(await run(command)).toMatchObject({ code: 0, all: "home\n" });
        expect(outside.upstream.seen.map(({ url }) => url)).toEqual([`/${tool}`]);
      }
      // Java reads no variable that names a proxy. It takes what it gets for a list of revoked certificates, and says so.
      if (environment !== "host") continue;
      await run(`keytool -printcrl -file ${at}/java`);
      expect(outside.upstream.seen.map(({ url }) => url)).toContain("/java");
    }
  });

  it("G-44 reaches neither the gate nor the files of another sandbox's", async () => {
    const asked = { backend, environment, network_policy: "egress" as const, allow_hosts: [OTHERS] };
    const other = (await at.sdk.createWorkspace(asked)).workspace_id;
    const certificate = async (one: string) =>
      (await at.sdk.execWorkspace(one, { command: "cat $NODE_EXTRA_CA_CERTS" })).stdout;
    expect(await certificate(other)).toContain("BEGIN CERTIFICATE");
    expect(await certificate(other)).not.toBe(await certificate(id));
    expect((await run(`getent hosts ${OTHERS}`)).code).toBe(2);
    // Its own hosts, also for who asks for addresses that fit the interfaces.
    expect((await run(`getent ahostsv4 ${LISTED}`)).out).toMatch(/^127\.\d/);
    expect((await run("cat /proc/*/environ /run/cloche/* 2>/dev/null | grep -c 'PRIVATE KEY'")).out.trim()).toBe("0");
    const find = "find / -xdev \\( -name control.sock -o -name daemon.sock -o -name gate.pid \\) 2>/dev/null";
    expect((await run(find)).out).toBe("");
    await at.sdk.deleteWorkspace(other);
  });
});

/** A folder with both, as this machine has them. */
function nodeAndNpm(at: Installation): string {
  const folder = at.path("npm");
  mkdirSync(folder);
  copyFileSync(process.execPath, join(folder, "node"));
  const script = execFileSync("sh", ["-c", 'readlink -f "$(command -v npm)"']).toString().trim();
  cpSync(dirname(dirname(script)), join(folder, "npm"), { recursive: true });
  return folder;
}

function serve(at: Installation, { upstream }: Outside): void {
  const registry = new PackageRegistry(REGISTRY, "fzstd");
  const code = new GitServer(at.path("repositories"));
  code.make("real.git", "file", "from the repository\n");
  upstream.handler = (given, response, body) => {
    const request = given as IncomingMessage;
    const answer = response as ServerResponse;
    const host = request.headers.host ?? String(request.headers[":authority"]);
    if (host === REGISTRY) registry.answer(request, answer);
    else if (host === CODE) void code.answer(request, answer, body);
    else if (host === API || host === WILD) answer.end("home\n");
    else answer.writeHead(302, { location: `https://${UNLISTED}/attack` }).end();
  };
}

/** Somebody on the host who listens at a name that is in no file system. */
async function abstractListener(): Promise<ChildProcess> {
  const program = `import socket, sys
s = socket.socket(socket.AF_UNIX); s.bind("\\0${ABSTRACT}"); s.listen()
print("ready", flush=True)
while True: s.accept()[0].send(b"reached")`;
  const child = spawn("/usr/bin/python3", ["-c", program], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return child;
}
