import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RESULT_BUDGET, TEXT_BUDGET } from "../../src/mcp/bounded.ts";
import { eventually, Installation } from "../helpers/installation.ts";
import { type McpClient, withMcp } from "../helpers/mcp-client.ts";

let at: Installation;
let id: string;
beforeAll(async () => {
  at = new Installation("mcpr");
  id = (await at.sdk.createWorkspace({ environment: "host" })).workspace_id;
});
afterAll(() => at[Symbol.asyncDispose]());

const serve = <Result>(work: (client: McpClient) => Promise<Result>, profile = "workspace-core") =>
  withMcp(at, ["--no-project-source", "--all-workspaces", "--profile", profile], work);
const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}\n`).join("");

describe("results are bounded, and what is missing can be read", () => {
  it("of a command: the middle goes, and workspace_logs reads on", async () => {
    await serve(async (client) => {
      const whole = numbers(10_000);
      const result = await client.call("workspace_exec", { workspace_id: id, command: "seq 10000" });
      const stdout = result["stdout"] as string;
      expect(result["stdout_truncated"]).toBe(true);
      expect(stdout.length).toBeLessThan(TEXT_BUDGET + 200);
      expect(JSON.stringify(result).length).toBeLessThanOrEqual(RESULT_BUDGET);
      expect(stdout.endsWith("9999\n10000\n")).toBe(true);
      const told =
        /\[… ([\d,]+) characters left out; workspace_logs with sequence (\d+) and offset (\d+) reads on …\]/.exec(
          stdout,
        );
      let offset: number | null = Number(told?.[3]);
      const [head, tail] = stdout.split(`\n${told?.[0]}\n`) as [string, string];
      expect(head).toBe(whole.slice(0, offset));
      expect(whole.endsWith(tail)).toBe(true);
      expect(Number(told?.[1]?.replaceAll(",", ""))).toBe(whole.length - head.length - tail.length);

      let read = head;
      while (offset !== null) {
        const logs = await client.call("workspace_logs", { workspace_id: id, sequence: Number(told?.[2]), offset });
        const [entry] = logs["entries"] as { stdout: string }[];
        expect(JSON.stringify(logs).length).toBeLessThanOrEqual(RESULT_BUDGET);
        read += entry!.stdout;
        offset = logs["next_offset"] as number | null;
      }
      expect(read).toBe(whole);
    });
  });

  it("of a command that printed more than is kept: says to use a file, and workspace_file_read gives all of it", async () => {
    await serve(async (client) => {
      const loud = await client.tool("workspace_exec", {
        workspace_id: id,
        command: "head -c 30000000 /dev/zero | tr '\\0' x",
      });
      expect(loud.structuredContent["stdout"]).toContain("workspace_file_read");
      expect(JSON.stringify(loud).length).toBeLessThan(4 * TEXT_BUDGET);
      await client.call("workspace_exec", { workspace_id: id, command: "seq 20000 | sed 's/$/ ä/' > out.log" });
      let read = "";
      for (let offset: number | null = 0; offset !== null;) {
        const part: Record<string, unknown> = await client.call("workspace_file_read", {
          workspace_id: id,
          path: "out.log",
          offset,
        });
        read += part["content"] as string;
        offset = part["next_offset"] as number | null;
      }
      expect(read).toBe(numbers(20_000).replaceAll("\n", " ä\n"));
      const asked = await client.call("workspace_file_read", { workspace_id: id, path: "out.log", max_bytes: 3 });
      expect(asked).toMatchObject({ content: "1 ", truncated: true, next_offset: 2 });
    });
  });

  it("of a list of files: pages with a cursor", async () => {
    await serve(async (client) => {
      await client.call("workspace_exec", {
        workspace_id: id,
        command: "mkdir many && cd many && seq 1200 | xargs touch",
      });
      const paths: string[] = [];
      for (let cursor: number | null = 0; cursor !== null;) {
        const part: Record<string, unknown> = await client.call("workspace_file_list", {
          workspace_id: id,
          path: "many",
          cursor,
        });
        expect(part["total"]).toBe(1200);
        const entries = part["entries"] as { path: string }[];
        expect(JSON.stringify(part).length).toBeLessThanOrEqual(RESULT_BUDGET);
        paths.push(...entries.map(({ path }) => path));
        cursor = part["next_cursor"] as number | null;
      }
      expect(new Set(paths).size).toBe(1200);
    });
  });

  it("of a diff: the middle goes, one file's is whole, and offset reads on", async () => {
    await serve(async (client) => {
      const fresh = await client.create();
      await client.call("workspace_exec", {
        workspace_id: fresh,
        command: "seq 20000 > long.txt; echo small > small.txt",
      });
      const cut = await client.call("workspace_diff", { workspace_id: fresh });
      expect(cut).toMatchObject({ changed: true, patch_truncated: true, summary: { total: 2 } });
      expect(JSON.stringify(cut).length).toBeLessThanOrEqual(RESULT_BUDGET);
      expect(cut["patch"]).toMatch(/workspace_diff with path/);
      const small = await client.call("workspace_diff", { workspace_id: fresh, path: "small.txt" });
      expect(small).toMatchObject({ patch_truncated: false, patch: expect.stringContaining("+small") as string });
      let patch = "";
      for (let offset: number | null = 0; offset !== null;) {
        const part: Record<string, unknown> = await client.call("workspace_diff", { workspace_id: fresh, offset });
        patch += part["patch"] as string;
        offset = part["next_offset"] as number | null;
      }
      const target = at.path("applied");
      mkdirSync(target);
      writeFileSync(at.path("whole.patch"), patch);
      execFileSync("git", ["apply", at.path("whole.patch")], { cwd: target });
      expect(readFileSync(`${target}/long.txt`, "utf8")).toBe(numbers(20_000));
      expect((await client.fails("workspace_diff", { workspace_id: fresh, path: "never" })).code).toBe(
        "FILE_NOT_FOUND",
      );
      await client.call("workspace_delete", { workspace_id: fresh });
    });
  });

  it("of a service and of a shell", async () => {
    await serve(async (client) => {
      const command = "seq 100000; touch printed; exec sleep 60";
      await client.call("service_start", {
        workspace_id: id,
        service_name: "loud",
        command,
        readiness: { type: "file", path: "printed" },
      });
      const logs = await client.tool("service_logs", { workspace_id: id, service_name: "loud", all: true });
      expect(logs.structuredContent).toMatchObject({ truncated: true });
      expect(logs.structuredContent["stdout"]).toMatch(/characters left out; ask for fewer lines with tail_lines/);
      const tail = await client.call("service_logs", { workspace_id: id, service_name: "loud", tail_lines: 2 });
      expect(tail["stdout"]).toBe("99999\n100000\n");
      await client.call("service_stop", { workspace_id: id, service_name: "loud" });

      const { shell_id } = await client.call("shell_open", { workspace_id: id });
      await client.call("shell_write", { workspace_id: id, shell_id, input: "seq 20000" });
      let read: Record<string, unknown> = {};
      // Quiet may come before the shell has got to it, on a machine that is busy.
      await eventually(async () => {
        read = await client.call("shell_read", { workspace_id: id, shell_id, wait_for_idle_ms: 500 });
        expect(read["truncated"]).toBe(true);
      });
      expect((read["output"] as string).length).toBeLessThanOrEqual(TEXT_BUDGET);
      const on = await client.call("shell_read", { workspace_id: id, shell_id, cursor: read["next_cursor"] });
      expect(on["cursor"]).toBe(read["next_cursor"]);
      await client.call("shell_close", { workspace_id: id, shell_id });
    }, "workspace-full");
  });
});

it("structured content stays within the budget, whatever is in it", async () => {
  await serve(async (client) => {
    const fresh = await client.create();
    const fits = async (name: string, args: object = {}) => {
      const result = await client.call(name, { workspace_id: fresh, ...args });
      expect(JSON.stringify(result).length, name).toBeLessThanOrEqual(RESULT_BUDGET);
      return result;
    };
    // Names of 100 characters, output that JSON writes with six characters each, a command that is long itself.
    const names = 'i=0; while [ $i -lt 400 ]; do echo $i > "$(printf "%0100d" $i)"; i=$((i+1)); done';
    await fits("workspace_exec", { command: names });
    await fits("workspace_exec", { command: "head -c 9000 /dev/zero; head -c 9000 /dev/zero >&2" });
    expect((await fits("workspace_exec", { command: `true ${"x".repeat(50_000)}` }))["cut"]).toEqual([
      { field: "command", shown: expect.any(Number) as number, total: 50_005 },
    ]);
    await fits("workspace_logs");
    const diff = await fits("workspace_diff");
    expect((diff["entries"] as unknown[]).length).toBeGreaterThan(5);
    expect(diff).toMatchObject({ summary: { total: 400 }, patch_truncated: true });
    const summary = await fits("workspace_summary");
    expect(summary).toMatchObject({
      outcome: { command_count: 3 },
      read_on: expect.stringContaining("workspace_diff") as string,
    });
    expect(summary["cut"]).toContainEqual(expect.objectContaining({ field: "changes.entries" }));
    await fits("workspace_file_list");
    await client.call("workspace_exec", {
      workspace_id: fresh,
      command: "head -c 30000 /dev/zero | tr '\\0' '\\1' > odd",
    });
    let size = 0;
    for (let offset: number | null = 0; offset !== null;) {
      const part: Record<string, unknown> = await fits("workspace_file_read", { path: "odd", offset });
      size += (part["content"] as string).length;
      offset = part["next_offset"] as number | null;
    }
    expect(size).toBe(30_000);
    await client.call("workspace_delete", { workspace_id: fresh });
  });
});

describe("long commands", () => {
  it("tell how they go to a client that asks, with their last line", async () => {
    await serve(async (client) => {
      const { answer } = client.begin("tools/call", {
        name: "workspace_exec",
        arguments: { workspace_id: id, command: "for i in 1 2 3 4 5; do echo step $i; sleep 0.5; done" },
        _meta: { progressToken: "p-1" },
      });
      expect((await answer).result).toMatchObject({
        structuredContent: { exit_code: 0, stdout: "step 1\nstep 2\nstep 3\nstep 4\nstep 5\n" },
      });
      const told = client.notifications.filter(({ method }) => method === "notifications/progress");
      expect(told.length).toBeGreaterThanOrEqual(2);
      expect(told.every(({ params }) => params["progressToken"] === "p-1")).toBe(true);
      const counts = told.map(({ params }) => params["progress"] as number);
      expect(counts).toEqual(counts.toSorted((one, other) => one - other));
      expect(told[0]?.params["message"]).toMatch(/^step \d$/);
    });
  });

  it("that run out of time are ended, and give what they printed", async () => {
    await serve(async (client) => {
      const command = "echo early; exec sleep 60";
      const answer = await client.tool("workspace_exec", { workspace_id: id, command, timeout_seconds: 2 });
      expect(answer.isError).toBeUndefined();
      expect(answer.structuredContent).toMatchObject({ timed_out: true, stdout: "early\n" });
      expect(answer.content[0]?.text).toMatch(
        /^Timed out: the command was ended after \d+(\.\d)? s; what it printed follows\nstdout:\nearly$/,
      );
    });
  });
});
