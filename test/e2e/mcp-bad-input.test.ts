import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Installation, eventually } from "../helpers/installation.ts";
import { McpClient, withMcp } from "../helpers/mcp-client.ts";

let at: Installation;
let id: string;
beforeAll(async () => {
  at = new Installation("mcpb");
  id = (await at.sdk.createWorkspace({ environment: "host" })).workspace_id;
});
afterAll(() => at[Symbol.asyncDispose]());

/** The workspace of these tests is not the server's own. */
const NONE = ["--no-project-source", "--all-workspaces"];
const MB = 1024 * 1024;

describe("a call that is wrong is told what is wrong, and the server goes on", () => {
  it("unknown tool", async () => {
    await withMcp(at, NONE, async (client) => {
      for (const name of ["no_such_tool", "shell_open", "__proto__"]) {
        const { error } = await client.ask("tools/call", { name, arguments: {} });
        expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(`"${name}"`) as string });
        expect(error?.message).toContain("workspace_create");
      }
      expect((await client.ask("tools/call", { arguments: {} })).error?.code).toBe(-32602);
      expect((await client.ask("no/such/method")).error?.code).toBe(-32601);
    });
  });

  it.each([
    ["a wrong type", "workspace_status", { workspace_id: 7 }, '"workspace_id" must be a string'],
    ["a missing argument", "workspace_exec", { workspace_id: "ws-x" }, '"command" is missing'],
    [
      "an extra argument",
      "workspace_status",
      { workspace_id: "ws-x", force: true },
      'unknown key "force"; allowed are workspace_id',
    ],
    ["an argument of another profile", "workspace_create", { network_policy: "off" }, 'unknown key "network_policy"'],
    [
      "an argument that is no object",
      "workspace_file_list",
      { workspace_id: "ws-x", path: ["a"] },
      '"path" must be a string',
    ],
    [
      "a value out of range",
      "workspace_exec",
      { workspace_id: "ws-x", command: "x", timeout_seconds: -1 },
      "more than 0",
    ],
    ["a path outside", "workspace_file_read", { workspace_id: "WS", path: "../etc/passwd" }, "../etc/passwd"],
  ])("%s", async (_, name, args, message) => {
    await withMcp(at, NONE, async (client) => {
      const given = JSON.parse(JSON.stringify(args).replace('"WS"', JSON.stringify(id))) as object;
      const error = await client.fails(name, given);
      expect(error.message).toContain(message);
      expect(error.code).toMatch(/^(INVALID_ARGUMENT|PATH_OUTSIDE_WORKSPACE)$/);
      expect(error.hint).not.toBe("");
      await client.call("workspace_list");
    });
  });

  it("a live snapshot where there is none: refused, in words of the tools, and nothing is kept", async () => {
    await withMcp(at, [...NONE, "--profile", "workspace-full"], async (client) => {
      const error = await client.fails("snapshot_create", { workspace_id: id, snapshot_name: "up", live: true });
      expect(error).toMatchObject({
        code: "NOT_SUPPORTED",
        hint: "Leave out live to save the files, or create the workspace on the backend vm",
      });
      expect(await client.call("snapshot_list", { workspace_id: id })).toMatchObject({ count: 1 });
    });
  });

  it("arguments of 10 MB: taken where they make sense, refused in a line where not", async () => {
    await withMcp(at, NONE, async (client) => {
      const text = "x".repeat(10 * MB);
      const written = await client.call("workspace_file_write", { workspace_id: id, path: "big.txt", text });
      expect(written["bytes_written"]).toBe(10 * MB);
      const answer = await client.tool("workspace_exec", { workspace_id: id, command: text });
      expect(answer.structuredContent["error"]).toMatchObject({ code: "INVALID_ARGUMENT" });
      expect(JSON.stringify(answer).length).toBeLessThan(2000);
      expect((await client.fails("workspace_status", { workspace_id: text })).message.length).toBeLessThan(500);
      const { error } = await client.ask("tools/call", { name: text, arguments: {} });
      expect(JSON.stringify(error).length).toBeLessThan(2000);
    });
  });

  it("a line that never ends is dropped when it does, and answered", async () => {
    await withMcp(at, NONE, async (client) => {
      const refused = client.answerTo(null);
      const piece = Buffer.alloc(8 * MB, "x");
      for (let sent = 0; sent <= 24; sent += 8) {
        if (!client.process.stdin.write(piece)) await new Promise((done) => client.process.stdin.once("drain", done));
      }
      client.raw("");
      expect((await refused).error).toMatchObject({ code: -32600, message: "The message is larger than 24 MiB" });
      expect((await client.ask("ping")).result).toEqual({});
    });
  });

  it("invalid UTF-8 is refused, and never repaired into another command", async () => {
    await withMcp(at, NONE, async (client) => {
      const before = await at.sdk.logsWorkspace(id);
      const refused = client.answerTo(null);
      const [head, tail] = JSON.stringify({
        jsonrpc: "2.0",
        id: 77,
        method: "tools/call",
        params: { name: "workspace_exec", arguments: { workspace_id: id, command: "echo a§b" } },
      }).split("§");
      client.raw(Buffer.concat([Buffer.from(head!), Buffer.from([0xff, 0xfe]), Buffer.from(tail!)]));
      expect((await refused).error).toMatchObject({ code: -32700, message: "The message is not UTF-8" });
      expect(await at.sdk.logsWorkspace(id)).toEqual(before);
    });
  });

  it.each([
    ["not JSON", "{nonsense", -32700],
    ["no object", "[1, 2]", -32600],
    ["no version", '{"id": 1, "method": "ping"}', -32600],
    ["no id that is one", '{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600],
    ["no message", '{"jsonrpc": "2.0"}', -32600],
  ])("a line that is %s", async (_, line, code) => {
    await withMcp(at, NONE, async (client) => {
      const refused = client.answerTo(null);
      client.raw(line);
      expect((await refused).error?.code).toBe(code);
      client.raw("");
      client.raw('{"jsonrpc":"2.0","method":"notifications/unknown"}');
      client.raw('{"jsonrpc":"2.0","id":4242,"result":{}}');
      expect((await client.ask("ping")).result).toEqual({});
    });
  });

  it("the id of a deleted workspace", async () => {
    await withMcp(at, NONE, async (client) => {
      const gone = await client.create();
      await client.call("workspace_delete", { workspace_id: gone });
      for (const [name, args] of [
        ["workspace_status", {}],
        ["workspace_exec", { command: "true" }],
        ["workspace_diff", {}],
        ["workspace_delete", {}],
      ] as const) {
        const error = await client.fails(name, { workspace_id: gone, ...args });
        expect(error).toMatchObject({
          code: "WORKSPACE_NOT_FOUND",
          hint: "See `workspace_list` for the ids there are",
        });
      }
    });
  });
});

describe("clients and servers come and go", () => {
  it("two servers on one home see the same workspaces", async () => {
    await withMcp(at, NONE, (one) =>
      withMcp(at, NONE, async (other) => {
        const shared = await one.create();
        await one.call("workspace_file_write", { workspace_id: shared, path: "a", text: "from one" });
        const read = await other.call("workspace_file_read", { workspace_id: shared, path: "a" });
        expect(read["content"]).toBe("from one");
        await other.call("workspace_delete", { workspace_id: shared });
        expect((await one.fails("workspace_status", { workspace_id: shared })).code).toBe("WORKSPACE_NOT_FOUND");
      }),
    );
  });

  it.each(["SIGKILL", "end of input"])(
    "a client that dies in the middle of an exec (%s): the exec ends, the workspace stays",
    async (how) => {
      const client = new McpClient(at, NONE);
      await client.open();
      const { answer } = client.begin("tools/call", {
        name: "workspace_exec",
        arguments: { workspace_id: id, command: `touch began; exec sleep 987`, timeout_seconds: 600 },
      });
      answer.catch(() => undefined);
      await eventually(() => at.sdk.readWorkspaceFile(id, "began").then(() => undefined));
      if (how === "SIGKILL") client.process.kill("SIGKILL");
      else client.process.stdin.end();
      await client.ended;
      await eventually(async () => {
        const { entries } = await at.sdk.logsWorkspace(id);
        expect(entries.at(-1)).toMatchObject({ state: "done", command: "touch began; exec sleep 987" });
      });
      const left = await at.sdk.execWorkspace(id, { command: "rm began; ps -eo args | grep -c '[s]leep 987'" });
      expect(left.stdout).toBe("0\n");
      expect((await at.sdk.statusWorkspace(id)).state).toBe("started");
    },
  );

  it("cancel ends a running exec, and of a finished or unknown call it does nothing", async () => {
    await withMcp(at, NONE, async (client) => {
      const finished = client.begin("tools/call", { name: "workspace_list", arguments: {} });
      await finished.answer;
      client.notify("notifications/cancelled", { requestId: finished.id });
      client.notify("notifications/cancelled", { requestId: 123_456 });
      client.notify("notifications/cancelled", {});
      const running = client.begin("tools/call", {
        name: "workspace_exec",
        arguments: { workspace_id: id, command: "touch there; exec sleep 987", timeout_seconds: 600 },
      });
      void running.answer.catch(() => undefined);
      await eventually(() => at.sdk.readWorkspaceFile(id, "there").then(() => undefined));
      client.notify("notifications/cancelled", { requestId: running.id, reason: "changed my mind" });
      await eventually(async () => {
        expect((await at.sdk.logsWorkspace(id)).entries.at(-1)?.state).toBe("done");
      });
      expect((await client.call("workspace_exec", { workspace_id: id, command: "rm there; echo on" }))["stdout"]).toBe(
        "on\n",
      );
    });
  });
});
