import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually, Installation, processesNaming, withInstallation } from "../helpers/installation.ts";
import { asLocalUser, LocalAttack, LOCAL_USER } from "../helpers/local-user.ts";
import { type Endpoint, endpointOf, HttpSession, send } from "../helpers/mcp-http.ts";
import { killDaemon } from "../helpers/running-daemon.ts";

let at: Installation;
beforeAll(() => {
  at = new Installation("smtk");
});
afterAll(() => at[Symbol.asyncDispose]());

async function lasting(where: Installation, action: "show" | "rotate" = "show"): Promise<Endpoint> {
  const { url, token } = await where.sdk.mcpToken({ action });
  if (url === null || token === null) throw new Error("no token");
  return { url, token };
}

const tokenFile = (where: Installation) => join(where.home, "mcp-token.json");
const statusOf = async ({ url, token }: Endpoint) =>
  (await send(url, { headers: { authorization: `Bearer ${token}` }, body: "{}" })).status;

/** What another user of the machine can do with what a client sent. */
const REQUEST = `
use IO::Socket::INET;
my ($port, $token) = @ARGV;
my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port) or die;
print $s "POST /mcp HTTP/1.1\\r\\nHost: 127.0.0.1:$port\\r\\nAuthorization: Bearer $token\\r\\nContent-Type: application/json\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\n{}";
print while <$s>;
`;
describe("G-34 the token of MCP over HTTP that lasts", () => {
  it("outlives daemons with its port, and is in one file that is the user's alone", async () => {
    const first = await lasting(at);
    expect(await lasting(at)).toEqual(first);
    const { mode } = statSync(tokenFile(at));
    expect(mode & 0o777).toBe(0o600);
    await (await HttpSession.open(first)).leave();
    await killDaemon(at);
    expect(await lasting(at)).toEqual(first);
    expect((await at.sdk.daemonStatus()).mcp_url).toBe(first.url);
    await (await HttpSession.open(first)).leave();
    // The daemon's own token is another one.
    await (await HttpSession.open(await endpointOf(at))).leave();
    const pids = processesNaming(at.home).map((line) => line.split(" ")[0] ?? "");
    expect(pids.length).toBeGreaterThan(1);
    for (const pid of pids) {
      for (const file of ["cmdline", "environ"]) {
        expect(readFileSync(`/proc/${pid}/${file}`, "latin1")).not.toContain(first.token);
      }
    }
    expect(readFileSync(join(at.home, "daemon.log"), "utf8")).not.toContain(first.token);
  });

  it("serves processes of the daemon's own user only, whoever has the token", async () => {
    const { url, token } = await lasting(at);
    const { port } = new URL(url);
    expect((await asLocalUser("cat", tokenFile(at))).code).not.toBe(0);
    expect((await asLocalUser("perl", "-e", REQUEST, port, token)).stdout).toMatch(
      /^HTTP\/1.1 403 .*not one of the user/s,
    );
    const own = (await at.sdk.daemonStatus()).mcp_token ?? "";
    expect((await asLocalUser("perl", "-e", REQUEST, port, own)).stdout).toMatch(/^HTTP\/1.1 403 /);
    await (await HttpSession.open({ url, token })).leave();
  });

  it("is worth nothing from the moment on that it is replaced or revoked, also to who is connected", async () => {
    const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
    for (const action of ["rotate", "revoke"] as const) {
      const old = await lasting(at);
      const session = await HttpSession.open({ ...old, url: `${old.url}?all_workspaces=true` });
      const args = { workspace_id: id, command: `touch ${action}; exec sleep 987`, timeout_seconds: 600 };
      const call = session.ask("tools/call", { name: "workspace_exec", arguments: args });
      const broken = expect(call).rejects.toThrow();
      await eventually(() => at.sdk.readWorkspaceFile(id, action).then(() => undefined));
      const { token } = await at.sdk.mcpToken({ action });
      expect(token === null).toBe(action === "revoke");
      expect(await statusOf(old)).toBe(401);
      await broken;
      await eventually(async () => {
        expect((await at.sdk.logsWorkspace(id)).entries.at(-1)).toMatchObject({ state: "done", command: args.command });
      });
    }
    expect(() => statSync(tokenFile(at))).toThrow(/ENOENT/);
    await at.sdk.deleteWorkspace(id);
  });

  it("a port that another user has is told with the user, and the daemon works on another one", async () => {
    await withInstallation(async (fresh) => {
      const first = await lasting(fresh);
      await fresh.sdk.stopDaemon();
      const port = new URL(first.url).port;
      const squat = `use IO::Socket::INET; my $l = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $ARGV[0], Listen => 5, ReuseAddr => 1) or die; print "has it\\n"; sleep 60;`;
      {
        await using attack = await LocalAttack.start(squat, [port]);
        await attack.says(/has it/);
        const status = await endpointOf(fresh);
        expect(status.url).not.toBe(first.url);
        await (await HttpSession.open(status)).leave();
        await expect(lasting(fresh)).rejects.toMatchObject({
          code: "PORT_TAKEN",
          message: `Port ${port} of MCP over HTTP is taken by a program of the user with the id ${LOCAL_USER}`,
          hint: expect.stringContaining("--rotate") as string,
        });
        expect(readFileSync(join(fresh.home, "daemon.log"), "utf8")).toContain(String(LOCAL_USER));
      }
      // The next daemon has it again; or another one is taken instead.
      await fresh.sdk.stopDaemon();
      expect(await lasting(fresh)).toEqual(first);
      expect((await lasting(fresh, "rotate")).token).not.toBe(first.token);
    });
  });

  it("a port of config.yaml is used, told when it is taken, and asked for again when it changed", async () => {
    await withInstallation(async (fresh) => {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      writeFileSync(join(fresh.home, "config.yaml"), `mcp:\n  port: ${port}\n`);
      await fresh.sdk.listWorkspaces();
      for (const action of ["show", "rotate"] as const) {
        await expect(lasting(fresh, action)).rejects.toMatchObject({
          code: "PORT_TAKEN",
          message: expect.stringContaining("a program of your own") as string,
        });
      }
      server.close();
      await fresh.sdk.stopDaemon();
      expect(await lasting(fresh)).toMatchObject({ url: `http://127.0.0.1:${port}/mcp` });
      writeFileSync(join(fresh.home, "config.yaml"), "mcp:\n  port: 1\n");
      await expect(lasting(fresh)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
      writeFileSync(join(fresh.home, "config.yaml"), "mcp:\n  prot: 1\n");
      expect((await fresh.cli(["workspace", "create"])).stderr).toContain('unknown key "prot"');
    });
  });

  it("a file that others can read, that is broken or a link is not used", async () => {
    await withInstallation(async (fresh) => {
      const first = await lasting(fresh);
      const content = readFileSync(tokenFile(fresh), "utf8");
      for (const spoil of [
        () => chmodSync(tokenFile(fresh), 0o644),
        () => writeFileSync(tokenFile(fresh), content.slice(0, 20)),
        () => writeFileSync(tokenFile(fresh), '{"port": 1, "token": ""}'),
      ]) {
        await fresh.sdk.stopDaemon();
        writeFileSync(tokenFile(fresh), content);
        chmodSync(tokenFile(fresh), 0o600);
        spoil();
        const status = await endpointOf(fresh);
        expect(await statusOf({ ...first, url: status.url })).toBe(401);
        expect((await lasting(fresh)).token).not.toBe(first.token);
        expect(statSync(tokenFile(fresh)).mode & 0o777).toBe(0o600);
      }
    });
  });

  it("the command prints it, an entry for a client, and that it is revoked", async () => {
    const told = (await at.cli(["mcp", "token", "--json"])).json();
    const { stdout } = await at.cli(["mcp", "token"]);
    expect(stdout).toContain(`${(told as unknown as Endpoint).token}\n`);
    expect(JSON.parse((await at.cli(["mcp", "token", "--config"])).stdout)).toMatchObject({
      mcpServers: { cloche: { type: "http", url: (told as unknown as Endpoint).url } },
    });
    expect((await at.cli(["mcp", "token", "--revoke", "--rotate"])).code).toBe(2);
    expect((await at.cli(["mcp", "token", "--revoke"])).stdout).toBe("Revoked the token\n");
  });
});
