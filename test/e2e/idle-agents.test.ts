import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { callTool } from "../../src/parity/supervise-call.ts";
import { BottledAgents } from "../helpers/bottled-agents.ts";
import { eventually, withInstallation } from "../helpers/installation.ts";

/** Asks, hears after 30 seconds that it waits, and then sits at its prompt. */
const SCRIPT = `${callTool("egress-block", { routes: [{ host: "new.example.test" }], justification: "to read it" })}
echo "at the prompt"; while read -r line; do echo "heard <$line>"; done`;

const PLUGIN = `export default {
  name: "teller", summary: "a program that takes lines", skills_folder: ".teller/skills", error_shape: null,
  takes_lines: true,
  check: () => undefined,
  program: () => ({ command: "/bin/sh", packages: {}, interpreter: null }),
  credentials: () => [], routes: () => [], env: () => ({}), files: () => [],
  argv: () => ["/bin/sh", "-c", ${JSON.stringify(SCRIPT)}],
};`;

it("an agent that waits at its prompt is told what was decided, where its provider says that it takes lines", async () => {
  await withInstallation(async (at) => {
    const agents = new BottledAgents(at);
    mkdirSync(join(at.home, "providers"));
    writeFileSync(join(at.home, "providers/teller.mjs"), PLUGIN);
    agents.agent("plain", SCRIPT, { bottle: { supervise: true } });
    const agent_provider = { template: "teller" };
    agents.write("bottles", "told", { environment: "host", supervise: true, agent_provider });
    agents.write("agents", "told", { bottle: "told" });
    const terminal = { cols: 200, rows: 30 };
    const start = async (name: string) => {
      const options = { backend: "container", project_path: at.root, skills_path: agents.skills, terminal };
      const { identity } = await at.sdk.startRun(name, options);
      const stream = await at.sdk.attachRun(identity, { terminal });
      const run = { identity, stream, text: "" };
      void (async () => {
        for await (const { data } of stream.output()) run.text += data.toString();
      })().catch(() => undefined);
      return run;
    };
    const [told, plain] = [await start("told"), await start("plain")];
    for (const run of [told, plain]) await eventually(() => expect(run.text).toContain("at the prompt"), 90);
    const decide = async ({ identity }: { identity: string }) => {
      const [proposal] = (await at.sdk.listApprovals({ identity })).proposals;
      return await at.sdk.approveProposal(proposal?.proposal_id ?? "");
    };
    await decide(plain);
    const { proposal_id: id } = await decide(told);
    const line = `cloche: the operator approved egress-block proposal ${id}. Try again what it was for.`;
    await eventually(() => expect(told.text).toContain(`heard <${line}>`));
    expect(plain.text).not.toContain("heard");
    for (const { identity, stream } of [told, plain]) {
      await at.sdk.stopRun(identity);
      await stream.close();
    }
    await at.sdk.cleanUp({ all: true });
  });
}, 200_000);
