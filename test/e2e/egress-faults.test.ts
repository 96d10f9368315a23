import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClocheEvent } from "../../src/model/event.ts";
import type { StartServiceOptions } from "../../src/sdk/options.ts";
import { DoorsInstallation } from "../helpers/doors.ts";
import { Installation, PROJECT, eventually } from "../helpers/installation.ts";
import { Outside } from "../helpers/outside.ts";

const LISTED = "listed.example.test";
const ANY = "any.example.test";
const CURL = "curl -sS --max-time 20";
/** Echoes what comes, as frames of a WebSocket are. */
const TALK = `
import socket, sys, time
s = socket.create_connection(("127.0.0.1", 9099))
s.sendall(b"GET http://${LISTED}/talk HTTP/1.1\\r\\nHost: ${LISTED}\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\nSec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\\r\\n\\r\\n")
print(s.recv(4096).split(b"\\r\\n")[0].decode(), flush=True)
while True:
    s.sendall(bytes([0x82, 0x84, 0, 0, 0, 0]) + b"tick")
    answer = s.recv(4096)
    if not answer: break
    print(answer[2:].decode(), flush=True)
    time.sleep(0.1)
print("over", flush=True)`;

/** Has the port of the gate. */
const HOLDER = {
  command: [
    "/usr/bin/python3",
    "-c",
    'import socket, time; s = socket.create_server(("127.0.0.1", 9099)); time.sleep(1000)',
  ],
  readiness: { type: "tcp", port: 9099 },
} satisfies StartServiceOptions;

describe("the gate of a plain workspace", () => {
  let at: DoorsInstallation;
  let outside: Outside;
  let id: string;

  const exec = async (command: string, workspace = id) => {
    const { exit_code, stdout, stderr } = await at.sdk.execWorkspace(workspace, { command, timeout_seconds: 60 });
    return { code: exit_code, out: stdout, all: stdout + stderr };
  };
  const create = (more: object) =>
    at.sdk.createWorkspace({ backend: "container", environment: "host", network_policy: "egress", ...more });

  beforeAll(async () => {
    at = new DoorsInstallation(new Installation("ef"));
    outside = await new Outside().open(at.at, [LISTED, ANY]);
    id = (await create({ allow_hosts: [LISTED] })).workspace_id;
  });

  afterAll(async () => {
    await at.sdk.close();
    await at.at[Symbol.asyncDispose]();
    await outside[Symbol.asyncDispose]();
  });

  it("G-206 lets nothing out while it is dead, and is what it was when it comes back", async () => {
    const { keeper, gate } = at.gate(id) ?? { keeper: 0, gate: 0 };
    const trusted = (await exec("cat $NODE_EXTRA_CA_CERTS")).out;
    process.kill(keeper, "SIGSTOP");
    try {
      process.kill(gate, "SIGKILL");
      outside.asked.length = 0;
      for (const how of ["", "--noproxy '*'"])
        expect((await exec(`${CURL} --max-time 2 ${how} https://${LISTED}/dead`)).code).not.toBe(0);
      expect((await exec(`timeout 2 getent hosts ${ANY}`)).out).toBe("");
      expect(outside.asked).toEqual([]);
    } finally {
      process.kill(keeper, "SIGCONT");
    }
    await eventually(async () => expect((await exec(`${CURL} https://${LISTED}/back`)).out).toContain("GET /back"));
    expect((await exec(`${CURL} https://${ANY}/back`)).code).not.toBe(0);
    expect((await exec("cat $NODE_EXTRA_CA_CERTS")).out).toBe(trusted);
    expect(at.gate(id)?.gate).not.toBe(gate);
  });

  it("G-206 acknowledges another policy, and drops no WebSocket and no stream of events for it", async () => {
    let isOver = false;
    outside.upstream.handler = (_request, response) => {
      const to = response as ServerResponse;
      to.writeHead(200, { "content-type": "text/event-stream" });
      const timer = setInterval(() => to.write("data: tick\n\n"), 100);
      to.once("close", () => {
        clearInterval(timer);
        isOver = true;
      });
    };
    outside.upstream.plain.on("upgrade", (_request, socket: Duplex) => {
      socket.on("error", () => undefined);
      socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
      socket.on("data", (part: Buffer) => socket.write(Buffer.concat([Buffer.from([0x82, 4]), part.subarray(6)])));
    });
    const first = (await at.sdk.setEgress(id, { routes: [{ host: LISTED }] })).revision ?? 0;
    await at.sdk.startService(id, "talk", { command: ["/usr/bin/python3", "-c", TALK] });
    await at.sdk.startService(id, "events", { command: ["sh", "-c", `curl -sSN https://${LISTED}/events`] });
    const said = async (name: string) => (await at.sdk.logsService(id, name)).stdout;
    const goesOn = async (name: string, word: string) => {
      const before = (await said(name)).split(word).length;
      await eventually(async () => expect((await said(name)).split(word).length).toBeGreaterThan(before + 2));
    };
    await goesOn("talk", "tick");
    await goesOn("events", "tick");
    writeFileSync(at.at.path("other.yaml"), `routes:\n  - host: ${ANY}\n`);
    const set = (await at.at.cli(["egress", "set", id, at.at.path("other.yaml"), "--json"])).json();
    expect(set["revision"]).toBeGreaterThan(first);
    expect((await exec(`${CURL} https://${LISTED}/new`)).code).not.toBe(0);
    await goesOn("talk", "tick");
    await goesOn("events", "tick");
    expect([await said("talk"), isOver]).toEqual([expect.not.stringContaining("over") as string, false]);
    await at.sdk.stopService(id, "talk");
    await at.sdk.stopService(id, "events");
    outside.upstream.handler = (request, response) =>
      void (response as ServerResponse).end(`upstream saw ${request.url ?? ""}\n`);
  });

  it("lets out to all hosts where it is told to, and tells of each request as it comes", async () => {
    const all = (await create({ allow_hosts: ["*"] })).workspace_id;
    const words = [join(PROJECT, "dist/cli/main.js"), "egress", "log", all, "--follow", "--json"];
    const log = spawn(process.execPath, words, { env: at.at.env, stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: log.stdout })[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await lines.next()).value as string) as ClocheEvent;
    for (const host of [LISTED, ANY]) {
      expect((await exec(`${CURL} https://${host}/proxy`, all)).all).toContain("/proxy");
      expect(await next()).toMatchObject({ kind: "egress.request", host, path: "/proxy", status: 200, rule: "*" });
      expect((await exec(`${CURL} --noproxy '*' https://${host}/name`, all)).all).toContain("/name");
      expect(await next()).toMatchObject({ kind: "egress.request", host, path: "/name", status: 200, rule: "*" });
    }
    for (const inside of ["127.0.0.1", "localhost", "[::1]", "169.254.169.254"]) {
      const asked = await exec(`curl -s --noproxy '' -x http://127.0.0.1:9099 http://${inside}/`, all);
      expect(asked.out).toContain("EGRESS_DENIED");
      expect(await next()).toMatchObject({ kind: "egress.denied" });
    }
    log.stdout.destroy();
    await exec(`${CURL} https://${ANY}/last`, all);
    await once(log, "exit");
    await at.sdk.deleteWorkspace(all);
  });

  it("says that its port is taken in the sandbox", async () => {
    const { workspace_id } = await at.sdk.createWorkspace({ backend: "container", environment: "host" });
    await at.sdk.startService(workspace_id, "holder", HOLDER);
    expect(await at.setDoors(workspace_id, [{ port: 9099, to: { kind: "egress" } }] as never)).toEqual([
      {
        port: 9099,
        state: "closed",
        reason: expect.stringContaining("port 9099 of the sandbox: Address already") as string,
      },
    ]);
    await at.sdk.deleteWorkspace(workspace_id);
  });

  it("G-206 has its port back when somebody in the sandbox took it while it was dead, and lets nothing out until then", async () => {
    const { keeper, gate } = at.gate(id) ?? { keeper: 0, gate: 0 };
    process.kill(keeper, "SIGSTOP");
    process.kill(gate, "SIGKILL");
    await at.sdk.startService(id, "holder", HOLDER);
    process.kill(keeper, "SIGCONT");
    await eventually(() => expect(at.gate(id)?.gate).not.toBe(gate));
    const { revision } = await at.sdk.setEgress(id, { routes: [{ host: LISTED }] });
    expect(revision).toBeGreaterThan(0);
    expect((await exec(`${CURL} --max-time 1 https://${LISTED}/taken`)).code).not.toBe(0);
    await at.sdk.stopService(id, "holder");
    await eventually(async () => expect((await exec(`${CURL} https://${LISTED}/free`)).out).toContain("/free"));
  });

  it.each([
    ["a file that is not there", "ca: /nowhere/ca.pem", /\/nowhere\/ca\.pem.*egress\.ca/],
    ["a file without a certificate", "ca: @none", /none\.pem.*egress\.ca.*no certificate in PEM/],
    ["a folder", "ca: /tmp", /\/tmp.*egress\.ca/],
    ["a proxy that is no address of one", "proxy: ftp://x", /egress\.proxy.*http:\/\/HOST:PORT/],
    ["a proxy with a port that there is not", "proxy: http://127.0.0.1:99999", /egress\.proxy.*http:\/\/HOST:PORT/],
  ])("is refused with its file and key where the configuration has %s", async (_what, line, told) => {
    const config = join(at.at.home, "config.yaml");
    const before = readFileSync(config, "utf8");
    writeFileSync(at.at.path("none.pem"), "nothing");
    try {
      writeFileSync(config, `egress:\n  ${line.replace("@none", at.at.path("none.pem"))}\n`);
      const { code, stderr } = await at.at.cli([
        "workspace",
        "create",
        "--network-policy",
        "egress",
        "--allow-host",
        LISTED,
      ]);
      expect(stderr).toMatch(told);
      expect(stderr).toMatch(/config\.yaml[^]*\nhint: ./);
      expect(code).toBe(2);
    } finally {
      writeFileSync(config, before);
      rmSync(at.at.path("none.pem"));
    }
  });
});
