import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROFILES } from "../../src/mcp/profiles.ts";
import { Installation, eventually, processesNaming, withInstallation } from "../helpers/installation.ts";
import { type Endpoint, endpointOf, HttpSession, send } from "../helpers/mcp-http.ts";
import { killDaemon } from "../helpers/running-daemon.ts";

let at: Installation;
let endpoint: Endpoint;
let id: string;
beforeAll(async () => {
  at = new Installation("mcph");
  id = (await at.sdk.createWorkspace({ environment: "host" })).workspace_id;
  endpoint = await endpointOf(at);
});
afterAll(() => at[Symbol.asyncDispose]());

const servers = (home: string) => processesNaming(home).filter((line) => line.includes("http-main"));

/** The workspace of these tests is nobody's session's own. */
const everywhere = (): Endpoint => ({ ...endpoint, url: `${endpoint.url}?all_workspaces=true` });

describe("MCP over HTTP", () => {
  it("is told by `cloche daemon status`, the token in JSON only", async () => {
    const status = (await at.cli(["daemon", "status", "--json"])).json();
    expect(status).toMatchObject({ mcp_url: endpoint.url, mcp_token: endpoint.token });
    expect(endpoint.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    const { stdout } = await at.cli(["daemon", "status"]);
    expect(stdout).toContain(endpoint.url);
    expect(stdout).not.toContain(endpoint.token);
  });

  it("costs no process until somebody comes, and serves the same tools then", async () => {
    await withInstallation(async (fresh) => {
      const there = await endpointOf(fresh);
      expect(servers(fresh.home)).toEqual([]);
      const session = await HttpSession.open(there);
      expect(servers(fresh.home)).toHaveLength(1);
      const [answer] = await session.ask("tools/list");
      const { tools } = answer!["result"] as { tools: { name: string }[] };
      expect(tools.map(({ name }) => name)).toEqual(PROFILES["workspace-core"]);
      expect(await session.leave()).toBe(200);
    });
  });

  it("does the work of a workspace, with progress", async () => {
    const session = await HttpSession.open(everywhere());
    expect(await session.call("workspace_exec", { workspace_id: id, command: "echo over http" })).toMatchObject({
      stdout: "over http\n",
    });
    const messages = await session.ask("tools/call", {
      name: "workspace_exec",
      arguments: { workspace_id: id, command: "for i in 1 2 3; do echo at $i; sleep 0.6; done" },
      _meta: { progressToken: 5 },
    });
    expect(messages.filter((one) => one["method"] === "notifications/progress").length).toBeGreaterThan(0);
    expect(messages.at(-1)).toMatchObject({ result: { structuredContent: { exit_code: 0 } } });
    await session.leave();
  });

  it("takes its options from the address, and refuses those it does not know", async () => {
    const full = await HttpSession.open({
      ...endpoint,
      url: `${endpoint.url}?profile=workspace-full&all_workspaces=true`,
    });
    expect(await full.call("snapshot_list", { workspace_id: id })).toMatchObject({ count: 1 });
    await full.leave();
    for (const query of ["profile=no", "nonsense=1", "mode=inspect&profile=vm-run"]) {
      await expect(HttpSession.open({ ...endpoint, url: `${endpoint.url}?${query}` })).rejects.toThrow(
        /400 .*(Use|profile)/,
      );
    }
  });

  it("speaks the revision without sessions too", async () => {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const answer = await send(everywhere().url, {
      headers: {
        authorization: `Bearer ${endpoint.token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "workspace_exec",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "workspace_exec", arguments: { workspace_id: id, command: "echo modern" }, _meta: meta },
      }),
    });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining("modern\\n")]);
  });

  it("a client that goes away in the middle of an exec ends it, and the workspace stays", async () => {
    const session = await HttpSession.open(everywhere());
    const gone = new AbortController();
    const args = { workspace_id: id, command: "touch http-began; exec sleep 987", timeout_seconds: 600 };
    const call = session.ask("tools/call", { name: "workspace_exec", arguments: args }, gone.signal);
    call.catch(() => undefined);
    await eventually(() => at.sdk.readWorkspaceFile(id, "http-began").then(() => undefined));
    gone.abort();
    await eventually(async () => {
      expect((await at.sdk.logsWorkspace(id)).entries.at(-1)).toMatchObject({ state: "done", command: args.command });
    });
    expect((await at.sdk.statusWorkspace(id)).state).toBe("started");
    expect(await session.call("workspace_exec", { workspace_id: id, command: "rm http-began" })).toMatchObject({
      exit_code: 0,
    });
    await session.leave();
  });

  it.each([
    ["a body that is no JSON", "{nonsense", 400],
    ["a body that is no UTF-8", Buffer.from([0x22, 0xff, 0x22]), 400],
    ["no session and no initialize", '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', 400],
  ])("%s is refused", async (_, body, status) => {
    const headers = {
      authorization: `Bearer ${endpoint.token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    expect((await send(endpoint.url, { headers, body })).status).toBe(status);
  });

  it("a session that is not there is told so", async () => {
    const session = await HttpSession.open(endpoint);
    await session.leave();
    expect((await session.post({ id: 9, method: "ping" })).status).toBe(404);
  });

  it("another process takes over when the one that serves is killed, and the daemon goes on", async () => {
    await (await HttpSession.open(endpoint)).leave();
    const [line] = servers(at.home);
    process.kill(Number(line!.split(" ")[0]), "SIGKILL");
    await eventually(() => expect(servers(at.home)).toEqual([]));
    const session = await HttpSession.open(everywhere());
    expect(await session.call("workspace_status", { workspace_id: id })).toMatchObject({ state: "started" });
    await session.leave();
  });

  it("ends with its daemon, also after kill -9, and the next one has another token", async () => {
    await withInstallation(async (fresh) => {
      const first = await endpointOf(fresh);
      await HttpSession.open(first);
      await killDaemon(fresh);
      await eventually(() => expect(servers(fresh.home)).toEqual([]));
      const second = await endpointOf(fresh);
      expect(second.token).not.toBe(first.token);
      await HttpSession.open(second);
      await fresh.sdk.stopDaemon();
      expect(servers(fresh.home)).toEqual([]);
    });
  });

  it("keeps its token out of logs, arguments, environments and files", async () => {
    await (await HttpSession.open(endpoint)).leave();
    const { pid } = await at.sdk.daemonStatus();
    const child = servers(at.home)[0]!.split(" ")[0]!;
    for (const process of [String(pid), child]) {
      for (const file of ["cmdline", "environ"]) {
        expect(readFileSync(`/proc/${process}/${file}`, "latin1")).not.toContain(endpoint.token);
      }
    }
    expect(readFileSync(`${at.home}/daemon.log`, "utf8")).not.toContain(endpoint.token);
  });
});
