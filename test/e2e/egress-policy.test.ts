import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DoorsInstallation } from "../helpers/doors.ts";
import { Upstream } from "../helpers/egress-proxy.ts";
import { Installation, eventually } from "../helpers/installation.ts";

const API = "api.example.test";
const SHORT = "short.example.test";
const PLAIN = "plain.example.test";
const TOKEN = `sk-ant-api03-${"k3Vq8Zt1Lw6Xp0Rm".repeat(5)}`;
const RENEWED = "renewed-token-9c1b7e52";
const CURL = "curl -sS --max-time 20";

describe("a workspace with an egress policy", () => {
  let at: DoorsInstallation;
  let upstream: Upstream;
  let id: string;
  let policy: string;

  const run = async (command: string) => {
    const { stdout, stderr } = await at.sdk.execWorkspace(id, { command, timeout_seconds: 60 });
    return stdout + stderr;
  };
  const file = (name: string) => at.at.path("policy", name);
  const cli = (args: string[], env: NodeJS.ProcessEnv = {}) => at.at.cli(args, { env });
  /** Each run says one more token, as a file has it. */
  const nextToken = (token: string) => writeFileSync(file("token"), token);

  beforeAll(async () => {
    at = new DoorsInstallation(new Installation("p"));
    upstream = await new Upstream().listen([API, SHORT, PLAIN]);
    mkdirSync(at.at.path("policy"));
    writeFileSync(file("ca.pem"), upstream.keys.certificate);
    writeFileSync(file("get-token"), `#!/bin/sh\necho run >> ${file("runs")}\ncat ${file("token")}\n`);
    chmodSync(file("get-token"), 0o755);
    nextToken("first-token-1f0d44aa");
    policy = file("egress.yaml");
    writeFileSync(
      policy,
      `egress:
  log: all
  routes:
    - host: ${API}
      connect: 127.0.0.1:${upstream.port}
      ca: ./ca.pem
      auth: { scheme: ApiKey, token_ref: API_TOKEN }
      matches:
        - paths: [{ type: prefix, value: /v1 }]
          methods: [GET, POST]
    - host: ${SHORT}
      connect: 127.0.0.1:${upstream.port}
      ca: ./ca.pem
      auth:
        - { scheme: Bearer, token_command: [./get-token] }
        - { scheme: Bearer, token_ref: API_TOKEN, query: key }
    - host: ${PLAIN}
      connect: 127.0.0.1:${upstream.port}
      ca: ./ca.pem
`,
    );
    await at.sdk.listWorkspaces(); // the daemon is there before the token is in anybody's environment
    const made = await cli(["workspace", "create", "--backend", "container", "--egress-policy", policy, "--id-only"], {
      API_TOKEN: TOKEN,
    });
    expect(made.stderr).toBe("");
    id = made.stdout.trim();
  });

  afterAll(async () => {
    await at.sdk.close();
    await at.at[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  it("G-55 puts tokens in that the sandbox has stand-ins for", async () => {
    const standIn = (await run("printf %s $API_TOKEN")).trim();
    expect(standIn).toMatch(/^sk-ant-api03-[\w-]{83}$/);
    expect(standIn).not.toBe(TOKEN);
    await run(`${CURL} https://${API}/v1/items -H "x-api-key: $API_TOKEN"`);
    expect(upstream.seen.at(-1)?.headers["x-api-key"]).toBe(TOKEN);
    await run(`${CURL} "https://${SHORT}/x?key=mine&y=1"`);
    expect(upstream.seen.at(-1)?.headers.authorization).toBe("Bearer first-token-1f0d44aa");
    expect(upstream.seen.at(-1)?.url).toBe(`/x?y=1&key=${encodeURIComponent(TOKEN)}`);
    const before = upstream.seen.length;
    expect(await run(`${CURL} https://${PLAIN}/ -d "$API_TOKEN"`)).toContain("DLP_BLOCKED");
    expect(upstream.seen).toHaveLength(before);
  });

  it("G-55 has no token in a file, an argument, an environment or an event", async () => {
    const { pid } = await at.sdk.daemonStatus();
    const gate = at.gate(id);
    for (const one of [pid, gate?.keeper, gate?.gate])
      for (const name of ["cmdline", "environ"])
        expect(readFileSync(`/proc/${one ?? 0}/${name}`, "latin1")).not.toContain(TOKEN);
    const gateLog = `workspaces/${id}/gate/gate.log`;
    const logs = ["daemon.log", "store.sqlite", "store.sqlite-wal", gateLog, `${gateLog}.1`];
    for (const name of logs.filter((one) => existsSync(join(at.at.home, one))))
      expect(readFileSync(join(at.at.home, name), "latin1"), name).not.toContain(TOKEN);
    expect(JSON.stringify(await at.events(id))).not.toContain(TOKEN);
    const found = await run(`grep -rlsI "${TOKEN.slice(0, 40)}" /workspace /tmp /run /home /etc /proc/*/environ; env`);
    expect(found).not.toContain(TOKEN);
  });

  it("has a new token when the upstream does not take the last one, in the gate that runs", async () => {
    const { gate } = at.gate(id) ?? {};
    upstream.handler = (request, response) => {
      const isGood = request.headers.authorization === `Bearer ${RENEWED}`;
      (response as ServerResponse).writeHead(isGood ? 200 : 401).end(isGood ? "taken" : "refused");
    };
    nextToken(`{"access_token": "${RENEWED}", "expires_in": 3600}`);
    expect(await run(`${CURL} https://${SHORT}/`)).toBe("refused");
    await eventually(async () => expect(await run(`${CURL} https://${SHORT}/`)).toBe("taken"));
    expect(readFileSync(file("runs"), "utf8").split("\n").length).toBeLessThan(6);
    expect(at.gate(id)?.gate).toBe(gate);
    upstream.handler = new Upstream().handler;
  });

  it("goes on with its tokens when the daemon was killed, and when the gate was", async () => {
    await at.killDaemon();
    process.kill(at.gate(id)?.gate ?? 0, "SIGKILL");
    await eventually(async () => expect(await run(`${CURL} https://${API}/v1/again`)).toContain("/v1/again"));
    expect(upstream.seen.at(-1)?.headers["x-api-key"]).toBe(TOKEN);
    await run(`${CURL} https://${SHORT}/`);
    expect(upstream.seen.at(-1)?.headers.authorization).toBe(`Bearer ${RENEWED}`);
  });

  it("counts what models took", async () => {
    upstream.handler = (_request, response) => {
      const to = response as ServerResponse;
      to.writeHead(200, { "content-type": "text/event-stream" });
      to.write('data: {"type":"message_start","message":{"usage":{"input_tokens":7,"output_tokens":1}}}\n\n');
      to.end('data: {"type":"message_delta","usage":{"output_tokens":5}}\n\n');
    };
    await run(`${CURL} https://${API}/v1/messages -d '{}'`);
    upstream.handler = new Upstream().handler;
    await eventually(async () =>
      expect((await at.sdk.statusWorkspace(id)).model_usage).toMatchObject({
        requests: 1,
        input_tokens: 7,
        output_tokens: 5,
      }),
    );
    expect((await at.sdk.summarizeWorkspace(id)).model_usage.requests).toBe(1);
    expect((await cli(["workspace", "status", id])).stdout).toContain("1 model call, 7 tokens in, 5 out");
  });

  it("says what passes, what was sent, and what would cover it", async () => {
    await run(`${CURL} https://${API}/v1/items; ${CURL} https://${API}/admin; ${CURL} https://nowhere.example.test/`);
    const check = (...words: string[]) => cli(["egress", "check", id, ...words]);
    expect(await check(`https://${API}/v1/items`)).toMatchObject({
      code: 0,
      stdout: `pass  GET ${API}/v1/items by route 1, ${API}, with the token of API_TOKEN\n`,
    });
    expect(await check("DELETE", `https://${API}/v1/items`)).toMatchObject({ code: 1 });
    expect((await check(`https://${API}/v1%2fitems`)).stdout).toMatch(/deny {2}.*encoded slash/);
    expect((await check(`https://${API}/v1/../admin`)).stdout).toMatch(/deny {2}.*dot segment/);
    expect((await check("http://127.0.0.1/")).code).toBe(1);
    expect((await cli(["egress", "check", policy, "POST", `https://${PLAIN}/x`, "--json"])).json()).toMatchObject({
      allowed: true,
      rule: PLAIN,
      route_index: 2,
      injects: [],
    });
    await eventually(async () => {
      const log = await cli(["egress", "log", id]);
      expect(log.stdout).toMatch(/403|EGRESS_DENIED/);
      expect(log.stdout).toMatch(new RegExp(`200 .* GET .*https://${API}/v1/items \\(token put in\\)`));
      expect(log.stdout).toContain("7 tokens in, 5 out");
    });
    const learned = await cli(["egress", "learn", id]);
    expect(learned.stdout).toMatch(/# denied (?:once|\d+ times)/);
    expect(learned.stdout).toContain("nowhere.example.test");
    writeFileSync(file("learned.yaml"), learned.stdout);
    const set = await cli(["egress", "set", id, file("learned.yaml")], { API_TOKEN: "another-token-5d5d5d" });
    expect(set).toMatchObject({ code: 0, stderr: "" });
    await run(`${CURL} https://${API}/v1/items`);
    expect(upstream.seen.at(-1)?.headers["x-api-key"]).toBe("another-token-5d5d5d");
    expect(await run(`${CURL} https://${API}/v1/never-asked-for`)).toContain("EGRESS_DENIED");
  });

  it("G-56 guards a stand-in on when no route takes its token any more", async () => {
    const route = { host: PLAIN, connect: `127.0.0.1:${upstream.port}`, ca: file("ca.pem") };
    await at.sdk.setEgress(id, { routes: [route] });
    const before = upstream.seen.length;
    expect(await run(`${CURL} https://${PLAIN}/ -d "$API_TOKEN"`)).toContain("DLP_BLOCKED");
    expect(upstream.seen).toHaveLength(before);
  });

  it("G-72 runs nothing that a project brings, unless the user says so", async () => {
    const folder = at.at.path("project");
    const ran = join(folder, "ran");
    mkdirSync(join(folder, ".git"), { recursive: true });
    for (const name of ["bottles", "agents", "providers"])
      mkdirSync(join(folder, ".cloche", name), { recursive: true });
    writeFileSync(join(folder, "get-token"), `#!/bin/sh\ntouch ${ran}\necho a-token-of-theirs\n`, { mode: 0o755 });
    const route = { host: PLAIN, auth: { scheme: "Bearer", token_command: [join(folder, "get-token")] } };
    const egress = JSON.stringify({ routes: [route] });
    const theirs = join(folder, "egress.yaml");
    const relative = JSON.stringify({
      routes: [{ ...route, auth: { ...route.auth, token_command: ["./get-token"] } }],
    });
    for (const name of ["egress.yaml", ".cloche/egress.yaml"]) writeFileSync(join(folder, name), egress);
    writeFileSync(join(folder, "relative.yaml"), relative);
    writeFileSync(join(folder, ".cloche/config.yaml"), `egress: ${egress}\n`);
    writeFileSync(join(folder, ".cloche/bottles/theirs.md"), `---\negress: ${egress}\n---\n`);
    writeFileSync(join(folder, ".cloche/agents/theirs.md"), "---\nbottle: theirs\n---\nHello\n");
    symlinkSync(theirs, file("link.yaml"));
    const make = ["workspace", "create", "--backend", "container", "--id-only", "--egress-policy"];
    const attempts = [
      [...make, "egress.yaml"],
      [...make, ".cloche/egress.yaml"],
      [...make, "relative.yaml"],
      [...make, file("link.yaml")],
      ["run", "--backend", "container", "--egress-policy", theirs, "--", "true"],
      ["egress", "set", id, theirs],
    ];
    for (const words of attempts) {
      const { code, stderr } = await at.at.cli(words, { cwd: folder });
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/runs ".*get-token" on this host.*\nhint: .*--allow-token-commands/) as string,
      ]);
    }
    // What lies about is not looked for; what is asked about is not run.
    await at.at.cli(["start", "theirs", "--yes"], { cwd: folder });
    await at.at.cli(["start", "theirs", "--bottle", "theirs", "--dry-run"], { cwd: folder });
    expect((await at.at.cli(["egress", "check", theirs, `https://${PLAIN}/`], { cwd: folder })).code).toBe(0);
    const plain = await at.at.cli(["run", "--backend", "container", "--", "true"], { cwd: folder });
    expect([plain.code, existsSync(ran)]).toEqual([0, false]);
    const made = await at.at.cli([...make, theirs, "--allow-token-commands"], { cwd: folder });
    expect([made.code, existsSync(ran)]).toEqual([0, true]);
    await at.sdk.deleteWorkspace(made.stdout.trim());
  });

  it("is refused with its file and line, and nothing is made", async () => {
    const before = readdirSync(join(at.at.home, "workspaces")).length;
    const refused = async (text: string, env: NodeJS.ProcessEnv = {}) => {
      writeFileSync(file("bad.yaml"), text);
      const { code, stdout, stderr } = await cli(["workspace", "create", "--egress-policy", file("bad.yaml")], env);
      expect([code === 0, stdout]).toEqual([false, ""]);
      expect(stderr).toMatch(/\nhint: ./);
      return stderr;
    };
    const bad = `Cannot use "${file("bad.yaml")}", line`;
    expect(await refused("routes:\n  - ports: [443]\n")).toContain(`${bad} 2: "routes.0.host" is missing`);
    expect(await refused("routes:\n  - host: a.example\n  - host: '*'\n")).toContain(`${bad} 3:`);
    expect(await refused("routes:\n  - host: '*.com'\n")).toContain("at least two labels");
    expect(await refused("routes:\n  - host: a.example\n  - host: A.example\n")).toContain(`${bad} 3: `);
    expect(await refused("routes:\n  - host: a.example\n    prots: [1]\n")).toMatch(
      /line 3: unknown key "prots".*allowed are host, ports/,
    );
    expect(
      await refused("routes:\n  - host: a.example\n    matches:\n      - paths: [{type: regex, value: '('}]\n"),
    ).toMatch(/line 4: .*does not compile/);
    expect(await refused("routes: [\n")).toMatch(/Cannot read ".*bad.yaml", line/);
    const auth = (more: string) => `routes:\n  - host: a.example\n    auth: { scheme: Bearer, ${more} }\n`;
    const unset = await refused(auth("token_ref: NOT_SET"), { API_TOKEN: TOKEN });
    expect(unset).toContain("The variable NOT_SET is not set");
    expect(unset).not.toContain(TOKEN);
    expect(await refused(auth("token_command: [sh, -c, 'echo told; exit 4']"))).toMatch(
      /token command "sh" failed with exit code 4/,
    );
    expect(await refused("routes:\n  - host: a.example\n    ca: /nowhere.pem\n")).toMatch(/line 3: .*nowhere.pem/);
    writeFileSync(file("no.pem"), "nothing");
    expect(await refused("routes:\n  - host: a.example\n    ca: no.pem\n")).toContain("no certificate in PEM");
    expect(readdirSync(join(at.at.home, "workspaces"))).toHaveLength(before);
  });
});

describe("cloche scan", () => {
  it("exits with what it found, without a daemon", async () => {
    const at = new Installation("s");
    const folder = at.path("repo");
    mkdirSync(folder);
    const scan = (target: string, ...more: string[]) => at.cli(["scan", target, ...more], { cwd: folder });
    writeFileSync(join(folder, "clean.txt"), "nothing");
    expect(await scan(".")).toMatchObject({ code: 0, stdout: "Nothing found in 1 file, 7 B\n" });
    writeFileSync(join(folder, "key.txt"), `\n  ${TOKEN}\n`);
    const found = await scan(".", "--json");
    expect([found.code, found.json()]).toMatchObject([
      1,
      { finding_count: 1, findings: [{ file: "key.txt", line: 2, rule: "anthropic-key", commit: null }] },
    ]);
    expect(found.stdout).not.toContain(TOKEN);
    const git = (...words: string[]) => execFileSync("git", words, { cwd: folder, stdio: "pipe" }).toString().trim();
    git("init", "-q");
    git("-c", "user.name=a", "-c", "user.email=a@example.test", "commit", "-q", "--allow-empty", "-m", "first");
    git("add", "-A");
    git("-c", "user.name=a", "-c", "user.email=a@example.test", "commit", "-q", "-m", "second");
    const range = await scan("HEAD~1..HEAD");
    expect(range.code).toBe(1);
    expect(range.stdout).toContain(git("rev-parse", "HEAD").slice(0, 12));
    expect((await scan("nothing..HEAD")).code).toBe(2);
    expect(existsSync(join(at.home, "daemon.sock"))).toBe(false);
    await at[Symbol.asyncDispose]();
  });
});
