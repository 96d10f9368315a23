import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { UseCase } from "./use-case.ts";

const PROJECT = {
  "README.md": "# A project nobody here has run yet\n",
  "validate.sh":
    '#!/bin/sh\nset -eu\ntest -f README.md\nprintf "validation=pass\\n" > validation-report.txt\nprintf "validated\\n"\n',
  "serve.sh":
    '#!/bin/sh\nset -eu\nprintf "service started\\n"\nprintf "service=ready\\n" > service-state.txt\ntouch .app-ready\nwhile true; do sleep 60; done\n',
};

export const coldStartValidation: UseCase = {
  scenario: "cold-start-validation",
  title: "See whether an unknown project validates and starts from nothing",
  profile: "workspace-full",
  mode: "cold-start",
  docPath: "docs/use-cases/cold-start-validation.md",
  smokeTarget: "smoke-cold-start-validation",
  async run({ client, folder, seed, create, step }) {
    const { workspace_id: id } = await step("create a workspace from the project", async () =>
      create({ seed_path: await seed(PROJECT), name: "cold-start" }),
    );
    await step("list its files", async (expect) => {
      const { entries } = await client.listWorkspaceFiles(id, { path: "/workspace", recursive: true });
      const files = entries.map(({ path, artifact_type }) => ({ path, artifact_type }));
      const wanted = Object.keys(PROJECT).map((name) => ({ path: `/workspace/${name}`, artifact_type: "file" }));
      expect("entries", files.sort(byPath), wanted.sort(byPath));
    });
    await step("validate it", async (expect) => {
      const result = await client.execWorkspace(id, { command: "sh validate.sh" });
      expect("exec", result, { workspace_id: id, exit_code: 0, stdout: "validated\n", stderr: "" });
    });
    await step("start its service and wait until it is ready", async (expect) => {
      const readiness = { type: "file", path: ".app-ready" } as const;
      const service = await client.startService(id, "app", { command: "sh serve.sh", readiness });
      expect("service", service, { service_name: "app", state: "running", cwd: "/workspace", readiness });
    });
    await step("probe the service", async (expect) => {
      const result = await client.execWorkspace(id, { command: "test -f .app-ready && cat service-state.txt" });
      expect("exec", result, { exit_code: 0, stdout: "service=ready\n" });
    });
    await step("read its log", async (expect) => {
      const logs = await client.logsService(id, "app", { tail_lines: 200 });
      expect("logs", logs, { state: "running", stdout: "service started\n", stderr: "", truncated: false });
    });
    await step("take the report out", async (expect) => {
      const output_path = join(folder, "validation-report.txt");
      const exported = await client.exportWorkspace(id, "validation-report.txt", { output_path });
      expect("export", exported, { output_path, artifact_type: "file" });
      expect("report", await readFile(output_path, "utf8"), "validation=pass\n");
    });
    await step("stop the service", async (expect) => {
      expect("service", await client.stopService(id, "app"), { service_name: "app", state: "stopped" });
    });
    await step("delete the workspace", async (expect) => {
      expect("deleted", await client.deleteWorkspace(id), { workspace_id: id, deleted: true });
    });
  },
};

const byPath = (one: { path: string }, other: { path: string }): number => (one.path < other.path ? -1 : 1);
