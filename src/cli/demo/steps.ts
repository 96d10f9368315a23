import { readdir } from "node:fs/promises";
import { isClocheError } from "../../base/errors.ts";
import type { ExecResult } from "../../model/exec.ts";
import { AGENT } from "../../model/vocabulary.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import { FAULT, type DemoSample } from "./sample.ts";
import { quoteCommand } from "../output/quote-command.ts";

/** What the steps share. */
export interface DemoState {
  readonly client: Cloche;
  readonly sample: DemoSample;
  /** The home folder of the user on the host. */
  readonly home: string;
  readonly environment: string | undefined;
  readonly backend: string | undefined;
  workspaceId: string;
}

export interface DemoOutcome {
  /** Whether it went as promised. */
  readonly ok: boolean;
  readonly lines: readonly string[];
}

export interface DemoStep {
  readonly name: string;
  readonly title: string;
  run(state: DemoState): Promise<DemoOutcome>;
}

const TEST = ["sh", "test.sh"];
/** An address that is kept for documentation: nobody is there to be bothered. */
const CONNECT = ["bash", "-c", "exec 3<>/dev/tcp/192.0.2.1/80"];

export const DEMO_STEPS: readonly DemoStep[] = [
  {
    name: "create",
    title: "Create a workspace from a sample project",
    async run(state) {
      const { client, sample, environment, backend } = state;
      const workspace = await client.createWorkspace({ seed_path: sample.path, name: "demo", environment, backend });
      state.workspaceId = workspace.workspace_id;
      return {
        ok: true,
        lines: [`${workspace.workspace_id}: environment ${workspace.environment}, backend ${workspace.backend}`],
      };
    },
  },
  {
    name: "failing_test",
    title: "Run its test, which fails",
    run: async (state) =>
      shown(await exec(state, TEST), (result) => result.exit_code === 1 && result.stdout.includes("FAIL")),
  },
  {
    name: "fix",
    title: "Fix the fault by writing the file",
    async run({ client, workspaceId }) {
      const { content } = await client.readWorkspaceFile(workspaceId, FAULT.file);
      const text = content.replace(FAULT.wrong, FAULT.right);
      const written = await client.writeWorkspaceFile(workspaceId, FAULT.file, { text });
      return { ok: text !== content, lines: [`${written.path}: ${written.bytes_written} bytes`] };
    },
  },
  {
    name: "passing_test",
    title: "Run the test again, and it passes",
    run: async (state) =>
      shown(await exec(state, TEST), (result) => result.exit_code === 0 && !result.stdout.includes("FAIL")),
  },
  {
    name: "diff",
    title: "Show what changed; the project on the host did not",
    async run({ client, sample, workspaceId }) {
      const diff = await client.diffWorkspace(workspaceId);
      const untouched = await sample.unchanged();
      const changes = diff.patch.split("\n").filter((line) => /^[+-](?![+-]{2})/.test(line));
      return { ok: untouched && diff.summary.total === 1 && diff.summary.modified === 1, lines: changes };
    },
  },
  {
    name: "home_is_hidden",
    title: "Try to read your home folder from inside",
    async run(state) {
      const result = await exec(state, ["ls", "-A", state.home]);
      const inside = new Set(result.stdout.split("\n"));
      const seen = (await readdir(state.home)).filter((name) => inside.has(name));
      const ownState = await exec(state, ["ls", state.client.home]);
      // A host user may have the home that the sandbox's own user has; then the names seen there are the sandbox's.
      const hidden = result.exit_code !== 0 || seen.length === 0 || state.home === AGENT.home;
      return shown(result, () => hidden && ownState.exit_code !== 0);
    },
  },
  {
    name: "network_is_off",
    title: "Try to reach the network from inside",
    async run(state) {
      const devices = await exec(state, ["cat", "/proc/net/dev"]);
      const names = [...devices.stdout.matchAll(/^\s*([^\s:]+):/gm)].map((match) => match[1]);
      const connected = await exec(state, CONNECT);
      const ok = names.length === 1 && names[0] === "lo" && connected.exit_code !== 0;
      return { ok, lines: [`network interfaces: ${names.join(", ")}`, ...shown(connected, () => ok).lines] };
    },
  },
  {
    name: "delete",
    title: "Delete the workspace",
    async run(state) {
      await state.client.deleteWorkspace(state.workspaceId);
      const gone = await state.client.statusWorkspace(state.workspaceId).then(
        () => false,
        (error: unknown) => isClocheError(error) && error.code === "WORKSPACE_NOT_FOUND",
      );
      if (gone) state.workspaceId = "";
      return { ok: gone, lines: [] };
    },
  },
];

const exec = (state: DemoState, command: string[]): Promise<ExecResult> =>
  state.client.execWorkspace(state.workspaceId, { command, timeout_seconds: 10 });

const MAX_LINES = 6;

function shown(result: ExecResult, check: (result: ExecResult) => boolean): DemoOutcome {
  const output = `${result.stdout}${result.stderr}`.split("\n").filter((line) => line !== "");
  return {
    ok: check(result),
    lines: [`$ ${quoteCommand(result.command)}`, ...output.slice(0, MAX_LINES), `exit ${result.exit_code}`],
  };
}
