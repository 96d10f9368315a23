import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DoorsInstallation } from "../helpers/doors.ts";
import { Installation, eventually } from "../helpers/installation.ts";
import { Outside } from "../helpers/outside.ts";

const LISTED = "listed.example.test";
const BELOW = "a.below.example.test";
const UNLISTED = "unlisted.example.test";
const SECRET = "sec-4f9d1c70b2e84ac6a5d39e6b";
const CURL = "curl -sS --max-time 20";
/** Node's own program, as far as a start reads it, takes forty more. */
const MOST_IDLE_MIB = 40;

/** As a static Go program has one: reads no file but /etc/resolv.conf. */
const OWN_RESOLVER = `
  const { Resolver } = require("node:dns").promises;
  const resolver = new Resolver();
  const [listed, unlisted] = process.argv.slice(1);
  const code = (error) => error.code;
  (async () => console.log(
    (await resolver.resolve4(listed))[0].split(".")[0],
    await resolver.resolve6(listed).catch(code),
    await resolver.resolve4(unlisted).catch(code),
  ))();`;

const residentMib = (pid = 0): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

describe("a workspace with network policy egress", () => {
  let at: DoorsInstallation;
  let outside: Outside;
  let id: string;

  const run = async (command: string, more: object = {}) => {
    const { exit_code, stdout, stderr } = await at.sdk.execWorkspace(id, { command, timeout_seconds: 60, ...more });
    return { code: exit_code, out: stdout, all: stdout + stderr };
  };
  const works = async () =>
    expect((await run(`${CURL} https://${LISTED}/works`)).all).toBe("upstream saw GET /works\n");

  beforeAll(async () => {
    at = new DoorsInstallation(new Installation("e"));
    outside = await new Outside().open(at.at, [LISTED, BELOW, UNLISTED]);
    const made = await at.sdk.createWorkspace({
      backend: "container",
      environment: "host",
      network_policy: "egress",
      allow_hosts: [LISTED, "*.below.example.test"],
      secrets: [{ name: "NOTE", value: SECRET }],
    });
    id = made.workspace_id;
    expect(made.network_policy).toBe("egress");
  });

  afterAll(async () => {
    await at.sdk.close();
    await at.at[Symbol.asyncDispose]();
    await outside[Symbol.asyncDispose]();
  });

  it("reaches its hosts with ordinary tools, and no other", async () => {
    await works();
    expect((await run(`${CURL} http://${BELOW}/plain`)).all).toBe("upstream saw GET /plain\n");
    const python = `import urllib.request; print(urllib.request.urlopen("https://${LISTED}/python").read().decode())`;
    expect((await run(`python3 -c '${python}'`)).all).toContain("upstream saw GET /python");
    const refused = await run(`${CURL} -i http://${UNLISTED}/page`);
    expect(refused.out).toMatch(/^HTTP\/1\.1 403 /);
    expect(refused.out).toContain('"code":"EGRESS_DENIED"');
    expect((await run(`${CURL} https://${UNLISTED}/page`)).code).not.toBe(0);
    expect(outside.asked.filter((to) => to.includes(UNLISTED))).toEqual([]);
  });

  it("reaches them with tools that know no proxy, by addresses of its own loopback interface", async () => {
    const [address = ""] = (await run(`getent hosts ${LISTED}`)).out.split(/\s/);
    expect(address).toMatch(/^127\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./);
    expect((await run(`getent ahosts ${UNLISTED}`)).code).toBe(2);
    expect((await run(`${CURL} --noproxy '*' https://${LISTED}/names`)).all).toBe("upstream saw GET /names\n");
    expect((await run(`${CURL} --noproxy '*' http://${BELOW}/names`)).all).toBe("upstream saw GET /names\n");
    // A resolver of a program's own.
    expect((await run(`node -e '${OWN_RESOLVER}' ${BELOW} ${UNLISTED}`)).out).toBe("127 ENODATA ENOTFOUND\n");
    const refused = (await at.events(id)).filter(({ kind, ...event }) => kind === "egress.denied" && "method" in event);
    expect(refused.filter((event) => "method" in event && event.method === "RESOLVE")).toMatchObject([
      { host: UNLISTED, code: "EGRESS_DENIED" },
    ]);
    // An address stands for one name only, and for the ports of its route.
    const other = await run(`${CURL} -k --noproxy '*' --resolve ${BELOW}:443:${address} https://${BELOW}/names`);
    expect(other.code).not.toBe(0);
    expect((await run(`${CURL} --noproxy '*' https://${LISTED}:8443/names`)).code).toBe(7);
    expect((await run(`${CURL} -k --noproxy '*' https://127.0.0.1/names`)).code).not.toBe(0);
  });

  it("G-41 lets none of its secrets out", async () => {
    const secret_env = { NOTE: "NOTE" };
    const sent = await run(`${CURL} -w '%{http_code}' https://${LISTED}/leak --data-binary "note=$NOTE"`, {
      secret_env,
    });
    expect(sent.out).toMatch(/DLP_BLOCKED[^]*403$/);
    const packed = await run(
      `printf %s "$NOTE" | base64 | ${CURL} https://${LISTED}/leak -H "x-note: y" --data-binary @-`,
      { secret_env },
    );
    expect(packed.out).toContain("DLP_BLOCKED");
    expect(outside.upstream.seen.some(({ url }) => url === "/leak")).toBe(false);
  });

  it("tells of each request", async () => {
    await run(`${CURL} "https://${LISTED}/told?token=not-told" -d abc`);
    await eventually(async () => {
      const told = (await at.events(id)).filter(({ kind }) => kind.startsWith("egress."));
      expect(told.at(-1)).toMatchObject({
        kind: "egress.request",
        method: "POST",
        host: LISTED,
        port: 443,
        path: "/told",
        status: 200,
        rule: LISTED,
        bytes_sent: 3,
        injected: false,
      });
      expect(told.some(({ kind }) => kind === "egress.denied")).toBe(true);
      expect(JSON.stringify(told)).not.toMatch(new RegExp(`${SECRET}|not-told`));
    });
  });

  it("works after a reset, a stop and a start, and in a fork", async () => {
    await at.sdk.resetWorkspace(id);
    await works();
    await at.sdk.stopWorkspace(id);
    await at.sdk.startWorkspace(id);
    await works();
    const fork = (await at.sdk.forkWorkspace(id)).workspace_id;
    const { stdout } = await at.sdk.execWorkspace(fork, { command: `${CURL} https://${LISTED}/fork` });
    expect(stdout).toBe("upstream saw GET /fork\n");
    expect(at.gate(fork)?.gate).not.toBe(at.gate(id)?.gate);
    await at.sdk.deleteWorkspace(fork);
  });

  it("works on while the daemon is dead, and after the gate or its keeper was killed", async () => {
    outside.upstream.seen.length = 0;
    const loop = `while :; do ${CURL} https://${LISTED}/again; sleep 0.2; done`;
    await at.sdk.startService(id, "asks", { command: ["sh", "-c", loop] });
    const isHeardFrom = async () => {
      const before = outside.upstream.seen.length;
      await eventually(() => expect(outside.upstream.seen.length).toBeGreaterThan(before + 1));
    };
    await isHeardFrom();
    await at.killDaemon();
    await isHeardFrom();
    process.kill(at.gate(id)?.gate ?? 0, "SIGKILL");
    await isHeardFrom(); // with the same certificate, and without a daemon
    await works();
    process.kill(at.gate(id)?.keeper ?? 0, "SIGKILL");
    await eventually(works);
    await at.sdk.stopService(id, "asks");
  });

  it("takes a port that somebody in the sandbox has when it is free; until then the proxy leads there", async () => {
    const LISTEN = 'import socket, time; s = socket.create_server(("0.0.0.0", 8443)); time.sleep(1000)';
    const command = ["/usr/bin/python3", "-c", LISTEN];
    await at.sdk.startService(id, "holder", { command, readiness: { type: "tcp", port: 8443 } });
    const routes = [{ host: LISTED, ports: [443, 8443] }, { host: "*.below.example.test" }];
    expect((await at.sdk.setEgress(id, { routes })).revision).toBeGreaterThan(0);
    const ask = (how: string) => run(`${CURL} --max-time 3 ${how} https://${LISTED}:8443/taken`);
    expect((await ask("")).all).toBe("upstream saw GET /taken\n");
    expect((await ask("--noproxy '*'")).code).not.toBe(0);
    await at.sdk.stopService(id, "holder");
    await eventually(async () => expect((await ask("--noproxy '*'")).all).toBe("upstream saw GET /taken\n"));
  });

  it("has a gate that gives back what its start took, and serves on", async () => {
    const other = await at.sdk.createWorkspace({
      backend: "container",
      network_policy: "egress",
      allow_hosts: [LISTED],
    });
    await eventually(() => expect(residentMib(at.gate(other.workspace_id)?.gate)).toBeLessThan(MOST_IDLE_MIB));
    const { stdout } = await at.sdk.execWorkspace(other.workspace_id, { command: `${CURL} https://${LISTED}/rested` });
    expect(stdout).toBe("upstream saw GET /rested\n");
    await at.sdk.deleteWorkspace(other.workspace_id);
  });

  it("carries much, and gives what is streamed as it comes", async () => {
    outside.upstream.handler = (request, response, body) => {
      const to = response as ServerResponse;
      if (request.url === "/size") to.end(String(body.length));
      else to.end(Buffer.alloc(20_000_000, "x"));
    };
    expect((await run(`head -c 20000000 /dev/zero | ${CURL} -T - -X POST https://${LISTED}/size`)).out).toBe(
      "20000000",
    );
    expect((await run(`${CURL} https://${LISTED}/much | wc -c`)).out.trim()).toBe("20000000");
  });

  it("is had by egress+published-ports with hosts too, and by none without", async () => {
    const variables = async (more: object) => {
      const made = {
        backend: "container",
        environment: "host",
        network_policy: "egress+published-ports",
        ...more,
      } as const;
      const { workspace_id } = await at.sdk.createWorkspace(made);
      const { stdout } = await at.sdk.execWorkspace(workspace_id, { command: "env" });
      await at.sdk.deleteWorkspace(workspace_id);
      return ["https_proxy=", "npm_config_fetch_retries="].filter((name) => stdout.includes(`\n${name}`));
    };
    expect(await variables({ allow_hosts: [LISTED] })).toEqual(["https_proxy="]);
    expect(await variables({})).toEqual(["npm_config_fetch_retries="]);
  });

  it("is refused without hosts, and hosts without it", async () => {
    const create = (more: object) => at.sdk.createWorkspace({ backend: "container", environment: "host", ...more });
    await expect(create({ network_policy: "egress" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(create({ allow_hosts: [LISTED] })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(create({ network_policy: "published-ports", allow_hosts: [LISTED] })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    for (const host of ["*.com", "127.0.0.1", "localhost", "a b"])
      await expect(create({ network_policy: "egress", allow_hosts: [host] })).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
  });
});
