import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { NOT_APPLYING, PASSING } from "../fixtures/mcp-conformance.ts";
import { agentsFolder } from "../helpers/agents.ts";
import { Installation, runProcess } from "../helpers/installation.ts";
import { endpointOf, withTokenProxy } from "../helpers/mcp-http.ts";

let at: Installation;
beforeAll(async () => {
  at = new Installation("mcpc");
  await at.sdk.createWorkspace({ environment: "host" });
});
afterAll(() => at[Symbol.asyncDispose]());

const suite = (args: readonly string[]) =>
  runProcess(process.execPath, [join(agentsFolder(), "@modelcontextprotocol/conformance/dist/index.js"), ...args], {
    cwd: at.root,
  });

it("the suite has no scenario that is not judged here", async () => {
  const { stdout } = await suite(["list", "--server"]);
  const scenarios = [...stdout.matchAll(/^ {2}- (\S+)$/gm)].map((match) => match[1] ?? "");
  expect(scenarios.toSorted()).toEqual([...PASSING, ...Object.keys(NOT_APPLYING)].toSorted());
});

it.each(PASSING)("the official conformance scenario %s passes over HTTP", async (scenario) => {
  await withTokenProxy(await endpointOf(at), async (url) => {
    const result = await suite(["server", "--url", url, "--scenario", scenario]);
    expect([result.code, result.stdout.match(/Passed: \d+\/\d+, (\d+) failed/)?.[1]], result.stdout).toEqual([0, "0"]);
  });
});
