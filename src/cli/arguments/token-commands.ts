import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { EgressInput } from "../../model/egress.ts";
import { failure } from "../../model/error-codes.ts";
import type { CliIo } from "../io.ts";
import type { OptionSpec } from "./option-spec.ts";

export const ALLOW_TOKEN_COMMANDS = {
  type: "boolean",
  description:
    "Run on this host what `token_command` says also in a policy that lies in a project, such as a git checkout",
} as const satisfies OptionSpec;

/** What makes a folder a project: others write in it, and so does an agent whose work was taken over. */
const MARKS = [".git", ".hg", ".jj", ".svn", ".cloche"] as const;

/**
 * Refuses commands that whoever wrote a project would have chosen.
 *
 * SECURITY: a policy in a project runs no program of the host, unless the user says so for that call (G-72)
 */
export function requireOwnCommands(
  egress: EgressInput,
  { file, folder, seedPath }: { file: string; folder: string; seedPath?: string | undefined },
  io: Pick<CliIo, "env" | "cwd">,
): void {
  const commands = commandsOf(egress);
  if (commands.length === 0) return;
  const seed = seedPath === undefined ? undefined : real(resolve(io.cwd, seedPath));
  // A link may lead into a project, and one in a project has its relative paths begin there.
  const places = [real(folder), dirname(real(resolve(io.cwd, file)))];
  const project = places.map((place) => projectOf(place, seed, io.env)).find((one) => one !== undefined);
  if (project === undefined) return;
  throw failure(
    "EGRESS_POLICY_INVALID",
    `Cannot use "${file}": it runs ${commands.map((one) => `"${one}"`).join(", ")} on this host, and it lies in the project "${project}"`,
    { hint: "Read what it runs, then add --allow-token-commands; or keep the policy outside of the project" },
  );
}

/** The nearest folder from here upwards that is one. The user's own home is none, whatever is in it. */
function projectOf(folder: string, seed: string | undefined, env: CliIo["env"]): string | undefined {
  const home = env["HOME"] ? real(env["HOME"]) : undefined;
  for (let at = folder; at !== home; at = dirname(at)) {
    if (at === seed || MARKS.some((mark) => existsSync(join(at, mark)))) return at;
    if (dirname(at) === at) break;
  }
  return undefined;
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // what is not there is told by who reads it
  }
}

/** What has another shape than it should have is refused by the daemon. */
function commandsOf({ routes }: EgressInput): string[] {
  if (!Array.isArray(routes)) return [];
  const auths = routes.flatMap((route) => [(route as { auth?: unknown } | null)?.auth ?? []].flat());
  return auths.flatMap((auth) => {
    const command = (auth as { token_command?: unknown } | null)?.token_command;
    return command === undefined ? [] : [Array.isArray(command) ? command.join(" ") : JSON.stringify(command)];
  });
}
