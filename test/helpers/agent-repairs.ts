import { join } from "node:path";
import { expect } from "vitest";
import type { ConnectableHost } from "../../src/model/host.ts";
import { AgentSession, type HostAgent } from "./agent-session.ts";
import { eventually, withInstallation } from "./installation.ts";
import { expectReproFix, makeBrokenProject, reproFixScript } from "./repro-fix-script.ts";
import { ScriptedApi } from "./scripted-api/scripted-api.ts";
import { servedProcesses } from "./served-processes.ts";

/** A real agent in a fresh home: connected by one command, it repairs a project in a workspace and leaves nothing behind. */
export async function expectAgentRepairs(program: HostAgent, host: ConnectableHost): Promise<void> {
  await withInstallation(async (at) => {
    const agent = new AgentSession(at, program);
    const project = at.path("project");
    const output = join(project, ".cloche/exports/add.sh");
    makeBrokenProject(project);
    const connected = await at.cli(["host", "connect", host], { env: agent.env });
    expect(connected, connected.stderr).toMatchObject({ code: 0 });

    await using api = await ScriptedApi.start(reproFixScript("add.sh"));
    const ended = await agent.run(api, { cwd: project, prompt: "The sum is wrong: fix it in a workspace" });
    expectReproFix(api.model, project, output);
    expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: "The sum is right now\n" });

    expect((await at.sdk.listWorkspaces()).workspaces).toEqual([]);
    await eventually(() => expect(servedProcesses(at.home), "servers that outlived the agent").toEqual([]));
  });
}
