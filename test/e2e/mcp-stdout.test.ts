import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { withInstallation } from "../helpers/installation.ts";
import { McpClient, withMcp } from "../helpers/mcp-client.ts";

const NONE = ["--no-project-source"];

/** As a dependency that talks would do: at work in every message and in every call of the daemon. */
const NOISE = `
const { parse } = JSON;
JSON.parse = (...args) => {
  console.log("noise on stdout");
  process.stdout.write("half a line");
  process.emitWarning("a warning");
  return parse(...args);
};
`;

it("stdout carries JSON-RPC only, whatever a dependency prints", async () => {
  await withInstallation(async (at) => {
    writeFileSync(at.path("noise.mjs"), NOISE);
    await withMcp(
      at,
      NONE,
      async (client) => {
        const id = await client.create();
        const { stdout } = await client.call("workspace_exec", {
          workspace_id: id,
          command: "echo '{\"jsonrpc\"'; sleep 0.2",
        });
        expect(stdout).toBe('{"jsonrpc"\n');
        expect(client.stderr).toContain("noise on stdout");
        expect(client.stderr).toContain("a warning");
      },
      { node: ["--import", at.path("noise.mjs")] },
    );
  });
});

it("an uncaught error ends the server with the reason on stderr, and nothing on stdout", async () => {
  await withInstallation(async (at) => {
    await at.sdk.listWorkspaces();
    writeFileSync(at.path("fault.mjs"), "process.on('SIGUSR2', () => { throw new Error('a fault'); });\n");
    const client = new McpClient(at, NONE, { node: ["--import", at.path("fault.mjs")] });
    await client.open();
    client.process.kill("SIGUSR2");
    expect(await client.ended).toBe(1);
    expect(client.stderr).toContain("a fault");
    expect(client.lines).toHaveLength(1);
  });
});

it("a reader that goes away ends the server quietly", async () => {
  await withInstallation(async (at) => {
    await at.sdk.listWorkspaces();
    const client = new McpClient(at, NONE);
    await client.open();
    client.process.stdout.destroy();
    client.begin("ping").answer.catch(() => undefined);
    client.process.stdin.end();
    expect(await client.ended).toBe(0);
  });
});
