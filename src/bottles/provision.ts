import { posix } from "node:path";
import { isClocheError } from "../base/errors.ts";
import type { GuestFiles } from "../guest/files.ts";
import type { BottlePlan } from "../model/bottle-plan.ts";
import { failure } from "../model/error-codes.ts";
import type { LiveWorkspace } from "../workspaces/live-workspace.ts";
import { SIGN_SCRIPT, sandboxGitConfig } from "../policy/git/sandbox-config.ts";
import { type Skill, skillItems } from "./skills.ts";

export interface Provisions {
  readonly plan: BottlePlan;
  readonly skills: readonly Skill[];
  readonly signingKey: string | null;
}

const MAX_CONFIG_BYTES = 1024 * 1024;
const GIT_CONFIG = ".cloche/git.config";
const SIGN_PROGRAM = ".cloche/git-sign";

/**
 * Puts all that the agent finds at its start into the sandbox, through its guest program, so that it is the same on every backend. The authority of its gate and the
 * files of `/workspace` are there already, and its doors are open; that the supervise door is there, the provider's own files, words and variables tell.
 */
export async function provision(
  live: LiveWorkspace,
  { plan, skills, signingKey }: Provisions,
  signal?: AbortSignal,
): Promise<void> {
  const files = await live.files();
  const { agent, agent_provision: agentProvision } = plan;
  const write = (path: string, text: string, mode: number) =>
    files.write("system", inSystem(path), Buffer.from(text), { mode, shownPath: path, signal });
  const prompt = { path: agentProvision.prompt_file, text: agent.prompt, mode: 0o600 };
  await Promise.all([prompt, ...agentProvision.files].map(({ path, text, mode }) => write(path, text, mode)));
  for (const skill of skills)
    await putSkill(files, posix.join(agentProvision.skills_folder, skill.name), skill, signal);
  await provisionGit(files, plan, signingKey, write);
}

/** What git finds is a file of its own that the user's configuration takes in, so that a resume replaces it and nothing else. */
async function provisionGit(
  files: GuestFiles,
  { git_identity: identity, git_gate_plan: gate, agent_provision: { guest_home: home } }: BottlePlan,
  signingKey: string | null,
  write: (path: string, text: string, mode: number) => Promise<unknown>,
): Promise<void> {
  if (!identity && gate.upstreams.length === 0) return;
  const own = posix.join(home, GIT_CONFIG);
  const program = posix.join(home, SIGN_PROGRAM);
  const signing = signingKey === null ? null : { publicKey: signingKey, program };
  if (signing) await write(program, SIGN_SCRIPT, 0o755);
  await write(own, sandboxGitConfig(identity, gate.upstreams, signing), 0o644);
  const path = posix.join(home, ".gitconfig");
  const there = await readIfThere(files, path);
  // The last value of a key is the one that git takes, so this is added at the end.
  if (!there.includes(own)) await write(path, `${there}[include]\n\tpath = ${own}\n`, 0o644);
}

/** In the place of what is there: of an earlier start, some of it may be gone on the host. */
async function putSkill(files: GuestFiles, path: string, skill: Skill, signal: AbortSignal | undefined): Promise<void> {
  const call = { shownPath: path, signal };
  await files.remove("system", inSystem(path), { ...call, recursive: true }).catch(unlessMissing);
  await files.treeIn("system", inSystem(path), skillItems(skill), call);
}

function unlessMissing(error: unknown): void {
  if (!isClocheError(error) || error.code !== "FILE_NOT_FOUND") throw error;
}

/** Relative to the root of the sandbox's own file system. */
export function inSystem(path: string): string {
  const whole = posix.normalize(path);
  if (posix.isAbsolute(path) && whole !== "/") return whole.slice(1).replace(/\/$/, "");
  throw failure("INVALID_ARGUMENT", `"${path}" is no path in a sandbox that something can be put at`, {
    hint: "Give an absolute path, as in /home/agent/.claude/skills",
  });
}

async function readIfThere(files: GuestFiles, path: string): Promise<string> {
  try {
    const { content } = await files.readAll("system", inSystem(path), { maxBytes: MAX_CONFIG_BYTES, shownPath: path });
    const text = content.toString("utf8");
    return text === "" || text.endsWith("\n") ? text : `${text}\n`;
  } catch (error) {
    unlessMissing(error);
    return "";
  }
}
