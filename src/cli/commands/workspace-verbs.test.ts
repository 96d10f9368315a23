import { expect, it } from "vitest";
import { createMemoryIo } from "../../../test/helpers/memory-io.ts";
import { failure } from "../../model/error-codes.ts";
import type { Service } from "../../model/service.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import { runCli } from "../run-cli.ts";

interface Call {
  code: number;
  stdout: string;
  stderr: string;
  /** The method that was called, and what it was given but for the progress. */
  asked: unknown[];
}

/** Runs the program with a client of which every method answers the same. */
async function call(args: string[], answer: unknown, options: { tty?: boolean; input?: string } = {}): Promise<Call> {
  const asked: unknown[] = [];
  const client = new Proxy({} as Cloche, {
    get: (_target, name: string) => {
      // Or it would be taken for a promise.
      if (name === "then") return undefined;
      return (...given: unknown[]) => {
        if (name !== "close") asked.push(name, ...given.map(withoutProgress));
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      };
    },
  });
  const io = createMemoryIo(options);
  io.stdin.end(options.input ?? "");
  const code = await runCli(args, { ...io, connect: () => Promise.resolve(client) });
  return { code, stdout: io.stdout.text, stderr: io.stderr.text, asked };
}

function withoutProgress(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([key, one]) => key !== "onProgress" && one !== undefined));
}

const service: Service = {
  workspace_id: "ws-1",
  service_name: "web",
  state: "running",
  command: ["npm", "start"],
  cwd: "/workspace",
  readiness: { type: "tcp", port: 80 },
  started_at: 1,
  ready_at: 2,
  ended_at: null,
  exit_code: null,
  published_ports: [{ guest_port: 80, host_port: 40_000, host: "127.0.0.1" }],
  execution_mode: "guest_socket",
};

const workspace = { workspace_id: "ws-2" };
const files = { entries: [{ path: "/workspace/a", artifact_type: "file", size_bytes: 3, link_target: null }] };
const patched = {
  changed: true,
  files: [{ path: "/workspace/b\u001B", status: "renamed", old_path: "/workspace/a" }],
};

it.each<[string, unknown, unknown[], string]>([
  ["patch apply ws-1 --patch P", patched, ["applyWorkspacePatch", "ws-1", { patch: "P" }], "renamed /workspace/b\\x1b"],
  ["patch apply ws-1 --patch-file -", { changed: false }, ["applyWorkspacePatch", "ws-1", { patch: "typed" }], "No ch"],
  [
    "sync push ws-1 ./a --dest d",
    { dest: "/d", files: 1 },
    ["pushWorkspaceSync", "ws-1", "./a", { dest: "d" }],
    "1 file",
  ],
  [
    "snapshot create ws-1 mid",
    { snapshot: { snapshot_name: "mid", size_bytes: 2048 } },
    ["createSnapshot", "ws-1", "mid", { live: false }],
    'Kept 2.0 KiB of changes as "mid"',
  ],
  [
    "snapshot list ws-1",
    { snapshots: [{ snapshot_name: "baseline", kind: "baseline", created_at: 1, size_bytes: 0 }] },
    ["listSnapshots", "ws-1"],
    "baseline  baseline",
  ],
  [
    "snapshot list ws-1",
    { snapshots: [{ snapshot_name: "up", kind: "named", live: true, created_at: 1, size_bytes: 0 }] },
    ["listSnapshots", "ws-1"],
    "up    live",
  ],
  ["snapshot delete ws-1 mid", { snapshot_name: "mid" }, ["deleteSnapshot", "ws-1", "mid"], 'Deleted snapshot "mid"'],
  [
    "reset ws-1 --snapshot mid",
    { workspace_id: "ws-1", workspace_reset: { snapshot_name: "mid" } },
    ["resetWorkspace", "ws-1", { snapshot: "mid" }],
    'Reset ws-1 to "mid"',
  ],
  ["fork ws-1 --snapshot mid --name b", workspace, ["forkWorkspace", "ws-1", { snapshot: "mid", name: "b" }], "ws-2"],
  ["fork ws-1 --id-only", workspace, ["forkWorkspace", "ws-1", {}], "ws-2\n"],
  ["stop ws-1", workspace, ["stopWorkspace", "ws-1"], "Stopped ws-2"],
  ["start ws-1", workspace, ["startWorkspace", "ws-1", {}], "Started ws-2"],
  ["disk list ws-1 src --recursive", files, ["listWorkspaceDisk", "ws-1", { path: "src", recursive: true }], "3 B"],
  [
    "disk export ws-1 --output d.img --format ext4",
    { output_path: "/d.img", format: "ext4", size_bytes: 1024 },
    ["exportWorkspaceDisk", "ws-1", { output_path: "d.img", format: "ext4" }],
    "Wrote 1.0 KiB of ext4 to /d.img",
  ],
  ["service list ws-1", { count: 1, services: [service] }, ["listServices", "ws-1"], "127.0.0.1:40000 -> 80"],
  ["service status ws-1 web", service, ["statusService", "ws-1", "web"], "ready when  tcp 80"],
  [
    "service stop ws-1 web",
    { ...service, state: "stopped", exit_code: 143 },
    ["stopService", "ws-1", "web"],
    "Stopped web, exit code 143",
  ],
  [
    "service stop ws-1 web",
    { ...service, state: "failed", exit_code: 1 },
    ["stopService", "ws-1", "web"],
    "web had failed before, exit code 1",
  ],
])("%s", async (line, answer, asked, human) => {
  const args = ["ws", ...line.split(" ")];
  const told = await call(args, answer, { input: "typed" });
  expect(told).toMatchObject({ code: 0, asked, stderr: "" });
  expect(told.stdout).toContain(human);
  const json = await call([...args, "--json"], answer, { input: "typed" });
  expect(json).toMatchObject({ code: 0, asked, stderr: "" });
  expect(JSON.parse(json.stdout)).toEqual(answer);
});

it("service start passes on its condition, ports and secrets, and tells where it is reached", async () => {
  const line = "ws service start ws-1 web --ready-http http://127.0.0.1/ --ready-timeout-seconds 5 --publish 80";
  const more = "--publish 8080:81 --secret-env TOKEN --secret-env KEY=API_KEY -- npm start --port 80";
  const { asked, stdout } = await call([...line.split(" "), ...more.split(" ")], service);
  expect(asked).toEqual([
    "startService",
    "ws-1",
    "web",
    {
      command: ["npm", "start", "--port", "80"],
      readiness: { type: "http", url: "http://127.0.0.1/" },
      ready_timeout_seconds: 5,
      published_ports: [{ guest_port: 80 }, { guest_port: 81, host_port: 8080 }],
      secret_env: { TOKEN: "TOKEN", KEY: "API_KEY" },
    },
  ]);
  expect(stdout).toBe("web is running\n127.0.0.1:40000 -> 80\n");
  const ended = { ...service, state: "exited", exit_code: 3, published_ports: [] };
  const short = await call(["ws", "service", "start", "ws-1", "web", "--", "false"], ended);
  expect(short.stdout).toBe("web has exited, exit code 3\n");
  for (const [flag, readiness] of [
    ["--ready-file=.r", { type: "file", path: ".r" }],
    ["--ready-tcp=80", { type: "tcp", port: 80 }],
    ["--ready-command=test -e x", { type: "command", command: "test -e x" }],
  ] as const) {
    const started = await call(["ws", "service", "start", "ws-1", "web", flag, "--", "x"], service);
    expect(started.asked.at(-1)).toMatchObject({ readiness });
  }
});

it("a service that does not get ready fails with what it said, without driving the terminal", async () => {
  const error = failure("SERVICE_NOT_READY", "It ended; its last output:\n\u001B[2Joops\nhint: not ours\r");
  const { code, stdout, stderr } = await call(["ws", "service", "start", "ws-1", "web", "--", "x"], error);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^error: It ended; its last output:\n {2}\\x1b\[2Joops\n {2}hint: not ours\\r\nhint: /);
});

it("service logs keep stdout and stderr apart, and say when there is more", async () => {
  const logs = { stdout: "out\u001B[31m\n", stderr: "err\n", truncated: true, state: "running" };
  const args = ["ws", "service", "logs", "ws-1", "web"];
  expect(await call([...args, "--tail-lines", "1"], logs)).toEqual({
    code: 0,
    stdout: "out\u001B[31m\n",
    stderr: "err\nnote: there is more; --all shows what was kept\n",
    asked: ["logsService", "ws-1", "web", { tail_lines: 1 }],
  });
  const all = await call([...args, "--all"], { ...logs, stdout: "\u001B[2J" }, { tty: true });
  expect(all.asked.at(-1)).toEqual({ all: true });
  expect(all.stdout).toBe("\\x1b[2J");
  expect(all.stderr).toContain("was not kept");
  expect(JSON.parse((await call([...args, "--json"], logs)).stdout)).toEqual(logs);
});

it("create passes secrets on and shows none of them", async () => {
  const line = "ws create --secret A=hush=1 --secret B= --secret-file C=some/file";
  const told = await call(line.split(" "), { ...workspace, secrets: [{ name: "A", source_kind: "literal" }] });
  expect(told.asked).toMatchObject([
    "createWorkspace",
    {
      secrets: [
        { name: "A", value: "hush=1" },
        { name: "B", value: "" },
        { name: "C", file_path: "some/file" },
      ],
    },
  ]);
  expect(told.stdout + told.stderr).not.toContain("hush");
});

it("disk read asks for bytes where they go to a pipe, and for one answer where it is a document", async () => {
  const answer = { content: "text", encoding: "utf8", truncated: false, next_offset: null };
  const piped = await call(["workspace", "disk", "read", "ws-1", "a"], answer);
  expect([piped.stdout, piped.asked]).toEqual([
    "text",
    ["readWorkspaceDisk", "ws-1", "a", { encoding: "base64", offset: 0, max_bytes: 4_194_304 }],
  ]);
  const json = await call(["workspace", "disk", "read", "ws-1", "a", "--json"], answer);
  expect([JSON.parse(json.stdout), json.asked]).toEqual([
    answer,
    ["readWorkspaceDisk", "ws-1", "a", { max_bytes: 65_536 }],
  ]);
});
