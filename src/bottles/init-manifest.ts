import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, messageOf } from "../base/errors.ts";
import type { ManifestStarted } from "../model/bottle-plan.ts";
import { failure } from "../model/error-codes.ts";
import { BUILT_IN_PROVIDERS } from "../providers/built-in-providers.ts";
import { agentsFolder, bottlesFolder } from "./manifest-files.ts";
import { STARTER_AGENT, starterAgent, STARTER_BOTTLE, starterBottle } from "./starter-files.ts";

/** Writes a first bottle and a first agent that work. What is there stays as it is. */
export function initManifest(
  home: string,
  { provider = "command", auth_token: authToken }: { provider?: string | undefined; auth_token?: string | undefined },
): ManifestStarted {
  if (!BUILT_IN_PROVIDERS.has(provider)) {
    throw failure("PROVIDER_NOT_FOUND", `There is no provider "${provider}" to begin with`, {
      hint: `Use one of ${[...BUILT_IN_PROVIDERS.keys()].join(", ")}`,
    });
  }
  const files: readonly (readonly [string, string])[] = [
    [join(bottlesFolder(home), `${STARTER_BOTTLE}.md`), starterBottle(provider, authToken)],
    [join(agentsFolder(home), `${STARTER_AGENT}.md`), starterAgent()],
  ];
  const written: string[] = [];
  const kept: string[] = [];
  for (const [path, text] of files) (writeNew(path, text) ? written : kept).push(path);
  return { agent: STARTER_AGENT, bottle: STARTER_BOTTLE, written, kept };
}

/** Whether it was not there before. */
function writeNew(path: string, text: string): boolean {
  try {
    mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw failure("OUTPUT_INVALID", `Cannot write "${path}": ${messageOf(error)}`, { cause: error });
  }
}
