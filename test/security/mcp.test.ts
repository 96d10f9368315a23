import { networkInterfaces } from "node:os";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Installation } from "../helpers/installation.ts";
import { withMcp } from "../helpers/mcp-client.ts";
import { type Endpoint, endpointOf, HttpSession, send } from "../helpers/mcp-http.ts";

let at: Installation;
let endpoint: Endpoint;
let id: string;
beforeAll(async () => {
  at = new Installation("smcp");
  id = (await at.sdk.createWorkspace({ environment: "host" })).workspace_id;
  endpoint = await endpointOf(at);
});
afterAll(() => at[Symbol.asyncDispose]());

const BODY = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "attacker", version: "1" } },
});
const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const attack = (headers: Record<string, string>, url = endpoint.url, method = "POST") =>
  send(url, { method, headers: { ...JSON_HEADERS, ...headers }, ...(method === "POST" && { body: BODY }) });

describe("G-18: MCP over HTTP is for who has the token, on this machine, and for no web page", () => {
  const right = () => ({ authorization: `Bearer ${endpoint.token}` });

  it("lets in who has the token", async () => {
    expect((await attack(right())).status).toBe(200);
    const { host } = new URL(endpoint.url);
    expect((await attack({ ...right(), origin: `http://${host}` })).status).toBe(200);
  });

  it.each([
    ["none", {}],
    ["an empty one", { authorization: "Bearer " }],
    ["a wrong one", { authorization: `Bearer ${"x".repeat(43)}` }],
    ["another scheme", { authorization: "Basic Og==" }],
  ])("refuses a request with %s as token, with any method", async (_, headers: Record<string, string>) => {
    for (const method of ["POST", "GET", "DELETE", "OPTIONS", "PUT"]) {
      const answer = await attack(headers, endpoint.url, method);
      expect([answer.status, answer.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
      expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
    }
  });

  it("refuses a token that is nearly right, in the address, or of another daemon", async () => {
    const { token } = endpoint;
    expect((await attack({ authorization: `Bearer ${token.slice(0, -1)}` })).status).toBe(401);
    expect((await attack({ authorization: `Bearer ${token}x` })).status).toBe(401);
    expect((await attack({}, `${endpoint.url}?token=${token}`)).status).toBe(401);
  });

  it.each([
    "http://evil.example",
    "https://127.0.0.1",
    "http://localhost",
    "null",
    "http://127.0.0.1.evil.example",
    "file://",
  ])("refuses the origin %s also with the token", async (origin) => {
    expect((await attack({ ...right(), origin })).status).toBe(403);
  });

  it.each(["evil.example", "evil.example:80", "127.0.0.1.evil.example", "0.0.0.0"])(
    "refuses the name %j for this server, as a page sends that had its name point here",
    async (host) => {
      expect((await attack({ ...right(), host })).status).toBe(403);
    },
  );

  it("has nothing at other addresses, and a session is no token", async () => {
    const root = new URL("/", endpoint.url).href;
    expect((await attack(right(), root)).status).toBe(404);
    expect((await attack(right(), `${root}mcp/../../v1/stopDaemon`)).status).toBe(404);
    const session = (await attack(right())).headers["mcp-session-id"] as string;
    expect((await attack({ "mcp-session-id": session })).status).toBe(401);
  });

  it("listens on loopback alone", async () => {
    const port = Number(new URL(endpoint.url).port);
    const outside = Object.values(networkInterfaces()).flatMap((list) =>
      (list ?? []).filter(({ internal }) => !internal),
    );
    for (const { address, scopeid } of outside) {
      const reached = await new Promise((resolve) => {
        const socket = connect({ port, host: scopeid ? `${address}%${scopeid}` : address });
        socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
        socket.setTimeout(2000, () => resolve(false));
      });
      expect(reached, address).toBe(false);
    }
    const reachable = await at.sdk.execWorkspace(id, {
      command: [
        "perl",
        "-MIO::Socket::INET",
        "-e",
        `print IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => ${port}) ? "in" : "out"`,
      ],
    });
    expect(reachable.stdout).toBe("out");
  });

  it("goes on after whatever is sent to the port", async () => {
    const port = Number(new URL(endpoint.url).port);
    for (const bytes of [
      "\0\0\0",
      "GET / HTTP/9.9\r\n\r\n",
      "x".repeat(200_000),
      "POST /mcp HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    ]) {
      await new Promise<void>((resolve) => {
        const socket = connect({ port, host: "127.0.0.1" }, () => socket.end(bytes));
        socket.on("error", () => undefined).once("close", () => resolve());
        socket.resume();
      });
    }
    const session = await HttpSession.open({ ...endpoint, url: `${endpoint.url}?all_workspaces=true` });
    expect(await session.call("workspace_list")).toMatchObject({ count: 1 });
  });
});

describe("G-19: a resource is a file of its workspace, and never one of the host", () => {
  it("whatever its address says", async () => {
    await at.cli(["workspace", "exec", id, "--", "ln", "-s", "/", "root"]);
    await at.cli(["workspace", "exec", id, "--", "ln", "-s", at.home, "home"]);
    await withMcp(at, ["--no-project-source", "--all-workspaces"], async (client) => {
      for (const path of [
        "../../etc/passwd",
        "%2e%2e/%2e%2e/etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "%252e%252e/etc/passwd",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "a/../../etc/passwd",
        "root/etc/passwd",
        "home/daemon.log",
        "%00",
        "a%00b",
        "%ff",
        "..",
        ".",
      ]) {
        const { result, error } = await client.ask("resources/read", {
          uri: `cloche://workspaces/${id}/files/${path}`,
        });
        expect(result, path).toBeUndefined();
        expect(error?.code, path).toBe(-32602);
        expect(error?.message).not.toContain("root:");
      }
      for (const uri of [
        `cloche://workspaces/../../etc/passwd`,
        `cloche://workspaces/${id}/files`,
        `cloche://workspaces//files/x`,
        `http://127.0.0.1/x`,
      ]) {
        expect((await client.ask("resources/read", { uri })).error?.code, uri).toBe(-32602);
      }
    });
  });
});
