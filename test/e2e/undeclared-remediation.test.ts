import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { rpc } from "../../src/parity/supervise-call.ts";
import type { Cloche } from "../../src/sdk/cloche.ts";
import { insertCapabilityBlock } from "../helpers/arriving-proposal.ts";
import { BottledAgents } from "../helpers/bottled-agents.ts";
import { Installation } from "../helpers/installation.ts";
import { SmolvmStandIn } from "../helpers/smolvm-stand-in.ts";

const smolvm = new SmolvmStandIn();

let at: Installation;
let sdk: Cloche;

beforeAll(() => {
  at = new Installation("ur", smolvm.env);
  sdk = at.sdk;
});
afterAll(async () => {
  await sdk.cleanUp({ all: true });
  await at[Symbol.asyncDispose]();
  await smolvm.remove();
});

it("G-107 on a backend that declares no change of environments none is offered, and an approval that arrives anyway touches nothing", async () => {
  const agents = new BottledAgents(at);
  const environment = "debian:12";
  agents.agent("still", `echo begun >begun; { ${rpc("tools/list", {})}; } >offered; sleep 600`, {
    bottle: { supervise: true, environment },
  });
  const { identity, workspace_id } = await sdk.startRun("still", agents.options({ backend: "smolmachines" }));
  const told = async (file: string) => (await sdk.readWorkspaceFile(workspace_id, file)).content;
  await expect.poll(() => told("offered").catch(() => ""), { timeout: 30_000 }).toContain('"egress-block"');
  expect(await told("offered")).not.toContain("capability-block");
  const sandbox = async () => {
    const { stdout } = await sdk.execWorkspace(workspace_id, { command: "pgrep -x sleep; cat begun; ls -di /" });
    const { last_activity_at, expires_at, command_count, ...workspace } = await sdk.statusWorkspace(workspace_id);
    expect([last_activity_at, expires_at, command_count]).toBeDefined();
    return { stdout, workspace, metadata: readFileSync(agents.stateFile(identity), "utf8") };
  };
  const before = await sandbox();
  const proposal_id = await insertCapabilityBlock({ sdk, home: at.home }, { identity, workspace_id, environment });
  await expect(sdk.approveProposal(proposal_id)).rejects.toMatchObject({ code: "REMEDIATION_UNSUPPORTED" });
  expect(await sandbox()).toEqual(before);
  expect((await sdk.listApprovals({ identity })).proposals).toMatchObject([{ proposal_id, status: "pending" }]);
  expect((await sdk.listRuns()).runs.map((run) => run.identity)).toContain(identity);
  await sdk.stopRun(identity);
});
