import { readFile } from "node:fs/promises";
import { packageFile } from "../../base/package-file.ts";
import { failure } from "../../model/error-codes.ts";
import { Manifest } from "../../sdk/manifest.ts";

/** Variables of whoever starts the agent; the demo makes their values up. */
export const TOKEN = "DEMO_TOKEN";
export const KEY = "DEMO_DEPLOY_KEY";
export const AGENT_NAME = "demo";

export interface DemoPlaces {
  /** As a route's `connect` takes it. */
  readonly outside: string;
  /** The URL of the repository; undefined where the host has no git. */
  readonly repository: string | undefined;
}

/** The scripted agent, in a bottle with two hosts and a repository, a token that it does not get, and a key that it does. */
export async function scriptedBottle(
  { outside, repository }: DemoPlaces,
  environment: string | undefined,
): Promise<Manifest> {
  const script = await readFile(packageFile("examples/demo-agent.sh"), "utf8");
  const bottle = {
    environment: environment ?? "host",
    supervise: false,
    agent_provider: { template: "command", settings: { argv: ["/bin/bash", "-c", script] } },
    env: { DEPLOY_KEY: `\${${KEY}}`, REPOSITORY: repository ?? "" },
    ...(repository !== undefined && {
      git: {
        user: { name: "Demo Agent", email: "agent@example.test" },
        repos: { slug: { url: repository, rules: { branches: ["agent/*"] } } },
      },
    }),
    egress: {
      log: "all",
      routes: [
        { host: "api.example.test", connect: outside, auth: { scheme: "Bearer", token_ref: TOKEN } },
        { host: "docs.example.test", connect: outside },
      ],
    },
  };
  return manifestOf(bottle, "Repair the failing test.");
}

/** Where each real agent has its credential. */
const CREDENTIALS: Readonly<Record<string, readonly string[]>> = {
  claude: ["CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY"],
  codex: ["CODEX_API_KEY", "OPENAI_API_KEY"],
  gemini: ["GEMINI_API_KEY"],
};
export const REAL_AGENTS = Object.keys(CREDENTIALS);

export const TASK =
  "The test `sh test.sh` fails. Find out why, repair slug.sh, and run the test again until it passes.";

/** A real one: with the hosts that it needs, and none beside. */
export function realBottle(
  agent: string,
  env: Readonly<Record<string, string | undefined>>,
  environment: string | undefined,
): Manifest {
  const names = CREDENTIALS[agent] ?? [];
  const given = names.find((name) => env[name]);
  if (given === undefined)
    throw failure(
      "VARIABLE_MISSING",
      `${agent} needs a credential, and ${names.join(" and ")} ${names.length > 1 ? "are" : "is"} not set`,
      {
        hint: `Set ${names.join(" or ")} where you run cloche; without --agent the demo needs none`,
      },
    );
  const bottle = {
    ...(environment !== undefined && { environment }),
    supervise: false,
    agent_provider: { template: agent, auth_token: given },
  };
  return manifestOf(bottle, "You are a careful engineer. Change only what the task asks for.");
}

const manifestOf = (bottle: object, prompt: string): Manifest =>
  Manifest.fromObject({ bottles: { demo: bottle }, agents: { [AGENT_NAME]: { bottle: "demo", skills: [], prompt } } });
