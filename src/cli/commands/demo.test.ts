import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createMemoryIo } from "../../../test/helpers/memory-io.ts";
import { failure } from "../../model/error-codes.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import { runCli } from "../run-cli.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "cloche-demo-test-"))));
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

interface Walls {
  /** What a command that tries to get out answers; undefined lets it run on this host. */
  readonly answer: (argv: readonly string[]) => { exit_code: number; stdout: string } | undefined;
}

/** A client whose workspace is a folder of this host, with only the walls that are given. */
function hostClient({ answer }: Walls): Partial<Cloche> {
  const project = join(folder, "workspace");
  let seed = "";
  const client = {
    home: folder,
    createWorkspace: ({ seed_path = "" }) => {
      cpSync((seed = seed_path), project, { recursive: true });
      return Promise.resolve({ workspace_id: "ws-1", environment: "host", backend: "none" });
    },
    execWorkspace: (_id: string, { command }: { command: string[] }) => {
      const run = () => {
        const { status, stdout, stderr } = spawnSync(command[0]!, command.slice(1), { cwd: project, encoding: "utf8" });
        return { exit_code: status, stdout, stderr };
      };
      return Promise.resolve({ command, stderr: "", ...(answer(command) ?? run()) });
    },
    readWorkspaceFile: (_id: string, path: string) =>
      Promise.resolve({ content: readFileSync(join(project, path), "utf8") }),
    writeWorkspaceFile: (_id: string, path: string, { text }: { text: string }) => {
      writeFileSync(join(project, path), text);
      return Promise.resolve({ path, bytes_written: text.length });
    },
    diffWorkspace: () => {
      const { stdout } = spawnSync("diff", ["-ru", seed, project], { encoding: "utf8" });
      return Promise.resolve({ patch: stdout, summary: { total: 1, modified: 1 } });
    },
    deleteWorkspace: () => Promise.resolve({ workspace_id: "ws-1", deleted: true }),
    statusWorkspace: () => Promise.reject(failure("WORKSPACE_NOT_FOUND", "gone")),
  };
  return client as unknown as Partial<Cloche>;
}

interface DemoDocument {
  ok: boolean;
  steps: { name: string; ok: boolean }[];
}

const isEscape = (argv: readonly string[]) => argv[0] === "ls" || argv[0] === "bash" || argv[1] === "/proc/net/dev";
const DEVICES = "Inter-| Receive\n face |bytes\n    lo: 0 0\n";

it("goes as promised behind walls, and leaves nothing behind", async () => {
  vi.stubEnv("TMPDIR", folder);
  const answer = (argv: readonly string[]) => {
    if (argv[1] === "/proc/net/dev") return { exit_code: 0, stdout: DEVICES };
    return isEscape(argv) ? { exit_code: 2, stdout: "" } : undefined;
  };
  const io = createMemoryIo({ client: hostClient({ answer }) });
  expect(await runCli(["demo"], io)).toBe(0);
  expect(io.stdout.text).toContain("2. Run its test, which fails  ✓");
  expect(io.stdout.text).toContain("All 8 steps went as promised");
  expect(readdirSync(folder)).toEqual(["workspace"]);
});

it("exits with 1 and names the steps where the home is seen and the network is reached", async () => {
  const answer = (argv: readonly string[]) => {
    if (argv[1] === "/proc/net/dev") return { exit_code: 0, stdout: `${DEVICES}  eth0: 0 0\n` };
    return argv[0] === "bash" ? { exit_code: 0, stdout: "" } : undefined;
  };
  const io = createMemoryIo({ client: hostClient({ answer }) });
  expect(await runCli(["demo", "--json"], io)).toBe(1);
  const document = JSON.parse(io.stdout.text) as DemoDocument;
  expect(document.ok).toBe(false);
  expect(document.steps.filter((step) => !step.ok).map((step) => step.name)).toEqual([
    "home_is_hidden",
    "network_is_off",
  ]);
});

it("deletes the workspace when a step throws", async () => {
  const deleted: string[] = [];
  const client: Partial<Cloche> = {
    ...hostClient({ answer: () => undefined }),
    execWorkspace: () => Promise.reject(failure("SANDBOX_LOST", "The sandbox ended")),
    deleteWorkspace: (workspace_id) => {
      deleted.push(workspace_id);
      return Promise.resolve({ workspace_id, deleted: true });
    },
  };
  expect(await runCli(["demo"], createMemoryIo({ client }))).toBe(125);
  expect(deleted).toEqual(["ws-1"]);
});

it("has a sample whose test fails for a reason", () => {
  const sample = join(import.meta.dirname, "../../../examples/demo-project");
  expect(() => execFileSync("sh", ["test.sh"], { cwd: sample, stdio: "pipe" })).toThrow();
});
