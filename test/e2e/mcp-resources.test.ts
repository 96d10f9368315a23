import { InMemoryTransport } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROMPTS } from "../../src/mcp/prompts.ts";
import { createServer } from "../../src/mcp/create-server.ts";
import { Installation } from "../helpers/installation.ts";
import { type McpClient, withMcp } from "../helpers/mcp-client.ts";

let at: Installation;
let id: string;
beforeAll(async () => {
  at = new Installation("mcpx");
  id = (await at.sdk.createWorkspace({ environment: "host", name: "shown" })).workspace_id;
  await at.sdk.writeWorkspaceFile(id, "dir/a b.txt", { text: "héllo\n" });
});
afterAll(() => at[Symbol.asyncDispose]());

const serve = <Result>(work: (client: McpClient) => Promise<Result>) =>
  withMcp(at, ["--no-project-source", "--all-workspaces"], work);

interface Contents {
  contents: { uri: string; mimeType: string; text: string }[];
}
const read = async (client: McpClient, uri: string) =>
  ((await client.ask("resources/read", { uri })).result as unknown as Contents).contents[0]!;

describe("resources", () => {
  it("have a template each for files, diff and summary, and the list has those of the workspaces there are", async () => {
    await serve(async (client) => {
      const { resourceTemplates } = (await client.ask("resources/templates/list")).result as {
        resourceTemplates: { uriTemplate: string }[];
      };
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
        "cloche://workspaces/{workspace_id}/files/{+path}",
        "cloche://workspaces/{workspace_id}/diff",
        "cloche://workspaces/{workspace_id}/summary",
      ]);
      const { resources } = (await client.ask("resources/list")).result as {
        resources: { uri: string; name: string }[];
      };
      expect(resources.map(({ uri }) => uri)).toEqual([
        `cloche://workspaces/${id}/diff`,
        `cloche://workspaces/${id}/summary`,
      ]);
      expect(resources[0]?.name).toContain("shown");
    });
  });

  it("give a file, the diff and the summary", async () => {
    await serve(async (client) => {
      const uri = `cloche://workspaces/${id}/files/dir/a%20b.txt`;
      expect(await read(client, uri)).toEqual({ uri, mimeType: "text/plain", text: "héllo\n" });
      expect((await read(client, `cloche://workspaces/${id}/diff`)).text).toContain("+héllo");
      const summary = JSON.parse((await read(client, `cloche://workspaces/${id}/summary`)).text) as object;
      expect(summary).toMatchObject({ workspace_id: id, changes: { changed: true } });
    });
  });

  it("that are not there, too large or a folder are refused with what to do", async () => {
    await at.sdk.execWorkspace(id, { command: "head -c 2000000 /dev/zero | tr '\\0' x > big" });
    await serve(async (client) => {
      for (const [uri, message] of [
        [`cloche://workspaces/${id}/files/none`, /none/],
        [`cloche://workspaces/${id}/files/dir`, /director/],
        [`cloche://workspaces/${id}/files/big`, /2,000,000 bytes.*workspace_file_read/],
        [`cloche://workspaces/ws-zzzzzzzzzz/diff`, /no workspace/],
        ["cloche://elsewhere", /templates/],
        ["file:///etc/passwd", /templates/],
      ] as const) {
        const { error } = await client.ask("resources/read", { uri });
        expect(error?.code, uri).toBe(-32602);
        expect(error?.message).toMatch(message);
      }
    });
    await at.sdk.execWorkspace(id, { command: "rm big" });
  });

  it("have ids that a host can complete", async () => {
    await serve(async (client) => {
      const complete = async (value: string) => {
        const ref = { type: "ref/resource", uri: "cloche://workspaces/{workspace_id}/diff" };
        const { result } = await client.ask("completion/complete", { ref, argument: { name: "workspace_id", value } });
        return (result as { completion: { values: string[] } }).completion.values;
      };
      expect(await complete(id.slice(0, 5))).toEqual([id]);
      expect(await complete("nothing")).toEqual([]);
    });
  });
});

describe("prompts", () => {
  it("are one for each use case, with the arguments put in", async () => {
    await serve(async (client) => {
      const { prompts } = (await client.ask("prompts/list")).result as { prompts: { name: string }[] };
      expect(prompts.map(({ name }) => name)).toEqual(Object.keys(PROMPTS));
      const got = await client.ask("prompts/get", {
        name: "repro-fix-loop",
        arguments: { failure: "make test fails" },
      });
      expect(JSON.stringify(got.result)).toContain("make test fails");
      expect((await client.ask("prompts/get", { name: "repro-fix-loop" })).error?.message).toContain('"failure"');
      expect((await client.ask("prompts/get", { name: "no" })).error?.message).toContain("repro-fix-loop");
    });
  });
});

describe("createServer()", () => {
  it("serves over a transport of the program's own, and ends its calls when it is closed", async () => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const server = createServer({
      profile: "workspace-core",
      no_project_source: true,
      all_workspaces: true,
      home: at.home,
    });
    const answers = new Map<unknown, (message: Record<string, unknown>) => void>();
    ours.onmessage = (message) => {
      const answer = message as unknown as Record<string, unknown>;
      answers.get(answer["id"])?.(answer);
    };
    await server.connect(theirs);
    await ours.start();
    const ask = (number: number, method: string, params: object) =>
      new Promise<Record<string, unknown>>((resolve) => {
        answers.set(number, resolve);
        void ours.send({ jsonrpc: "2.0", id: number, method, params } as never);
      });
    await ask(1, "initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    });
    const args = { workspace_id: id, command: "echo embedded" };
    expect(await ask(2, "tools/call", { name: "workspace_exec", arguments: args })).toMatchObject({
      result: { structuredContent: { stdout: "embedded\n" } },
    });
    await server.close();
    await server.close();
  });

  it("refuses what is no profile or mode at once", () => {
    expect(() => createServer({ profile: "no" as never })).toThrow(/no profile/);
    expect(() => createServer({ mode: "no" as never })).toThrow(/no mode/);
  });
});
