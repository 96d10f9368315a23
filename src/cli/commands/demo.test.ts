import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createMemoryIo } from "../../../test/helpers/memory-io.ts";
import { failure } from "../../model/error-codes.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import type { StartRunOptions } from "../../sdk/options.ts";
import { runCli } from "../run-cli.ts";

const EXAMPLES = join(import.meta.dirname, "../../../examples");
let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "cloche-demo-test-"))));
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

interface Gate {
  readonly stops: boolean;
  readonly injects: boolean;
}

interface DemoBottle {
  git: { repos: { slug: { url: string } } };
  egress: { routes: { connect: string }[] };
}

/** What a request of the agent's would do to the world, where no gate keeps it. */
async function send(address: string, host: string, headers: object, body: string): Promise<void> {
  const [name, port] = address.split(":");
  await new Promise<void>((done, fail) => {
    const sent = request({ host: name, port, method: "POST", headers: { host, ...headers } }, (answer) => {
      answer.resume();
      answer.on("end", done);
    });
    sent.on("error", fail);
    sent.end(body);
  });
}

/** A client whose agent tells what the real one would; whether anything gets out is the gate's doing. */
function agentClient({ stops, injects }: Gate): Partial<Cloche> {
  const deleted = new Set<string>();
  const client = {
    planRun: () =>
      Promise.resolve({
        preflight: "\n  agent  demo\n  egress (none)\n",
        wanted: { variables: ["DEMO_TOKEN", "DEMO_DEPLOY_KEY"] },
      }),
    startRun: async (_agent: string, { manifest, variables = {} }: StartRunOptions) => {
      const { egress, git } = manifest!.bottles["demo"] as DemoBottle;
      const [route] = egress.routes;
      const repository = fileURLToPath(git.repos.slug.url);
      const branch = (name: string) =>
        execFileSync("git", ["-C", repository, "update-ref", `refs/heads/${name}`, "main"]);
      branch("agent/repair");
      if (!stops) branch("agent/notes");
      const address = route?.connect ?? "";
      const token = injects ? `Bearer ${variables["DEMO_TOKEN"]}` : "none";
      await send(address, "api.example.test", { authorization: token }, "");
      if (!stops) await send(address, "docs.example.test", {}, variables["DEMO_DEPLOY_KEY"] ?? "");
      return { identity: "demo-12345" };
    },
    attachRun: () =>
      Promise.resolve({
        async *output() {
          await Promise.resolve();
          const text = `FAIL  x\nok    x\n> My token is stand-in...\n${stops ? "nobody answers" : "it was answered"}\n`;
          yield { channel: "stdout", data: Buffer.from(text) };
        },
        result: Promise.resolve({ exit_code: 0, has_changes: true }),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
    async *watch() {
      await Promise.resolve();
      const denied = [
        { kind: "egress.denied", host: "evil.example.test", code: "EGRESS_DENIED" },
        { kind: "egress.denied", host: "docs.example.test", code: "DLP_BLOCKED" },
        { kind: "push.rejected", refs: ["refs/heads/agent/notes"] },
      ];
      yield { kind: "push.accepted", refs: ["refs/heads/agent/repair"] };
      yield* stops ? denied : [];
    },
    startWorkspace: () => Promise.resolve({}),
    diffWorkspace: () => Promise.resolve({ patch: "--- a\n+++ b\n-x\n+y\n", summary: { total: 1, modified: 1 } }),
    stopRun: () => Promise.resolve({}),
    deleteWorkspace: (id: string) => {
      deleted.add(id);
      return Promise.resolve({ workspace_id: id, deleted: true });
    },
    statusWorkspace: (id: string) =>
      deleted.has(id) ? Promise.reject(failure("WORKSPACE_NOT_FOUND", "gone")) : Promise.resolve({}),
  };
  return client as unknown as Partial<Cloche>;
}

interface DemoDocument {
  ok: boolean;
  steps: { name: string; ok: boolean }[];
}

it("goes as promised behind a gate, and leaves nothing behind", async () => {
  vi.stubEnv("TMPDIR", folder);
  const io = createMemoryIo({ client: agentClient({ stops: true, injects: true }) });
  expect(await runCli(["demo"], io)).toBe(0);
  expect(io.stdout.text).toContain("4. All three ways out were closed, and told");
  expect(io.stdout.text).toContain("All 7 steps went as promised");
  expect(readdirSync(folder)).toEqual([]);
});

it("exits with 1 and names the steps where something got out", async () => {
  const io = createMemoryIo({ client: agentClient({ stops: false, injects: false }) });
  expect(await runCli(["demo", "--json"], io)).toBe(1);
  const document = JSON.parse(io.stdout.text) as DemoDocument;
  expect(document.ok).toBe(false);
  expect(document.steps.filter((step) => !step.ok).map((step) => step.name)).toEqual(["token", "leaks", "push"]);
});

it("removes the run when a step throws", async () => {
  const removed: string[] = [];
  const client: Partial<Cloche> = {
    ...agentClient({ stops: true, injects: true }),
    diffWorkspace: () => Promise.reject(failure("SANDBOX_LOST", "The sandbox ended")),
    deleteWorkspace: (workspace_id) => {
      removed.push(workspace_id);
      return Promise.resolve({ workspace_id, deleted: true });
    },
  };
  expect(await runCli(["demo"], createMemoryIo({ client }))).toBe(125);
  expect(removed).toEqual(["demo-12345"]);
});

it("has a sample whose test fails for a reason, and an agent that repairs it", () => {
  const project = join(folder, "project");
  cpSync(join(EXAMPLES, "demo-project"), project, { recursive: true });
  const test = () => execFileSync("sh", ["test.sh"], { cwd: project, stdio: "pipe" });
  expect(test).toThrow();
  // Without a gate it gets as far as its first question.
  spawnSync("bash", ["-c", readFileSync(join(EXAMPLES, "demo-agent.sh"), "utf8")], { cwd: project });
  expect(test).not.toThrow();
});
