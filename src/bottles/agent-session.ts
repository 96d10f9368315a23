import { constants } from "node:os";
import type { GuestClient, ProcessInfo } from "../guest/client.ts";
import { failure } from "../model/error-codes.ts";
import type { AgentSession } from "../model/run.ts";
import { startWaiting } from "../workspaces/adopt-commands.ts";
import type { Dependencies } from "../workspaces/dependencies.ts";
import { commandTag, exitCodeOf } from "../workspaces/exec-command.ts";
import type { LiveWorkspace } from "../workspaces/live-workspace.ts";
import { sandboxEnvironment } from "../workspaces/sandbox-environment.ts";
import { watchProcess } from "../workspaces/services/service-process.ts";
import { shellTag } from "../workspaces/shells/find-shell.ts";
import type { Shells } from "../workspaces/shells/shells.ts";
import { AGENT } from "../model/names.ts";

/** The agent of a run: what it is called with, and what it gets. */
export interface AgentProgramStart {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Of these, no other command of the sandbox learns. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Null: its output apart, and nothing to type into. */
  readonly terminal: { readonly cols: number; readonly rows: number } | null;
}

/** How an agent ended. `left`: the daemon ends, and the agent goes on. */
export type AgentEnd = { readonly code: number | null; readonly reason: string | null } | "left";

/** How long an agent that is asked to end may take. */
const END_GRACE_MS = 5000;
/** A shell at a terminal does not end when it is asked to, but when its terminal is closed. */
const HANG_UP_AFTER_MS = 1000;
export const KILLED = `it did not end within ${END_GRACE_MS / 1000} seconds of being asked to, and was killed`;
const LOOK_PATIENCE_MS = 10_000;

/** Starts it. It needs neither a client nor a daemon to go on. */
export async function startAgent(
  deps: Dependencies,
  shells: Shells,
  live: LiveWorkspace,
  { terminal, ...program }: AgentProgramStart,
): Promise<AgentSession> {
  await requireProgram(live, program);
  if (!terminal) return { kind: "command", sequence: await startWaiting(deps, live, program) };
  const { shell_id } = await shells.openProgram(live, { ...program, ...terminal });
  return { kind: "shell", shell_id };
}

/** An agent that is not there is told by its name, before it is started. */
async function requireProgram(
  live: LiveWorkspace,
  { argv, env, cwd }: Omit<AgentProgramStart, "terminal">,
): Promise<void> {
  const [name = ""] = argv;
  const look = (await live.guest()).spawn({
    argv: ["/bin/sh", "-c", 'command -v -- "$1"', "sh", name],
    env: sandboxEnvironment(live, env, false),
    cwd,
    user: AGENT,
    timeoutMs: LOOK_PATIENCE_MS,
  });
  look.discardOutput();
  const { kind, code } = await look.exit;
  // An environment without a shell cannot be asked; then its start will tell.
  if (kind !== "exited" || code === 0) return;
  throw failure("AGENT_PROGRAM_NOT_FOUND", `There is no program "${name}" in the sandbox`);
}

const tagOf = (session: AgentSession): string =>
  session.kind === "shell" ? shellTag(session.shell_id) : commandTag(session.sequence);

async function findAgent(guest: GuestClient, session: AgentSession): Promise<ProcessInfo | undefined> {
  return (await guest.processes()).find(({ tag }) => tag === tagOf(session));
}

/** Waits for its end, also over connections that break. Never rejects. */
export async function watchAgent(deps: Dependencies, live: LiveWorkspace, session: AgentSession): Promise<AgentEnd> {
  const lost = { code: null, reason: "its sandbox has ended" };
  let found: ProcessInfo | undefined;
  try {
    found = await findAgent(await live.guest(), session);
  } catch {
    return live.isCurrent ? { code: null, reason: "its sandbox does not answer" } : lost;
  }
  const end = found && (await watchProcess(live, found.process));
  if (end === "left") return "left";
  if (end) return { code: exitCodeOf(end), reason: null };
  return recordedEnd(deps, live, session) ?? lost;
}

/** Of one that nobody had to wait for: the guest forgets a command when its end is in the journal. */
function recordedEnd(deps: Dependencies, { workspaceId }: LiveWorkspace, session: AgentSession): AgentEnd | undefined {
  if (session.kind === "shell") {
    const shell = deps.store.findShell(workspaceId, session.shell_id);
    return shell && shell.state !== "running" ? { code: shell.exitCode, reason: null } : undefined;
  }
  const entry = deps.journal.find(workspaceId, session.sequence);
  return entry?.state === "done" ? { code: entry.exit_code, reason: null } : undefined;
}

/** To the agent and all that it has started. False when it has ended. */
export async function signalAgent(
  live: LiveWorkspace,
  session: AgentSession,
  signal: "INT" | "TERM" | "HUP" | "KILL",
): Promise<boolean> {
  try {
    const guest = await live.guest();
    const found = await findAgent(guest, session);
    if (!found || found.exit) return false;
    await guest.signalTree(found.process, constants.signals[`SIG${signal}`]);
    return true;
  } catch (error) {
    // The agent went with its sandbox, which is stopped when its run has ended.
    if (!live.isCurrent) return false;
    throw error;
  }
}

/** Asks it to end, at a terminal in two ways, and makes it when it does not; `killing` is called before. `ended` resolves at its end. */
export async function endAgent(
  live: LiveWorkspace,
  session: AgentSession,
  { ended, killing }: { readonly ended: Promise<unknown>; readonly killing: () => void },
): Promise<void> {
  if (!(await signalAgent(live, session, "TERM"))) return;
  if (!(await isLate(ended, HANG_UP_AFTER_MS))) return;
  if (session.kind === "shell") await signalAgent(live, session, "HUP");
  if (!(await isLate(ended, END_GRACE_MS - HANG_UP_AFTER_MS))) return;
  killing();
  await signalAgent(live, session, "KILL");
}

async function isLate(ended: Promise<unknown>, afterMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<true>((resolve) => (timer = setTimeout(() => resolve(true), afterMs)));
  const isIt = await Promise.race([ended.then(() => false), late]);
  clearTimeout(timer);
  return isIt;
}
