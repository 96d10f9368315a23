import type { GuestExit, GuestProcess } from "../../guest/process.ts";
import { randomName } from "../../base/ids.ts";
import { failure } from "../../model/error-codes.ts";
import { AGENT, WORKSPACE_ROOT } from "../../model/names.ts";
import type { OperationInput } from "../../model/operations.ts";
import type { Shell } from "../../model/shell.ts";
import { toWorkspaceAbsolute, toWorkspaceRelative } from "../../policy/workspace-path.ts";
import type { Dependencies } from "../dependencies.ts";
import type { LiveWorkspace } from "../live-workspace.ts";
import { promptOf } from "../prompt.ts";
import { sandboxEnvironment } from "../sandbox-environment.ts";
import { hasAny } from "../secrets.ts";
import { presentShell, shellTag } from "./find-shell.ts";

/** How much of its output a shell keeps. */
const RING_BYTES = 1024 * 1024;
/** A shell that shows no prompt is a shell too. */
const PROMPT_PATIENCE_MS = 1000;
const RLIMIT_NPROC = 6;
/** The files that a person's shell reads at its start would change prompt and behaviour from one environment to the next. */
const START = "if command -v bash >/dev/null 2>&1; then exec bash --noprofile --norc -i; fi; exec sh -i";

/** What runs at a terminal that stays. */
export interface TerminalProgram {
  readonly argv: readonly string[];
  /** Beside what all commands get. */
  readonly env: Readonly<Record<string, string>>;
  /** Of these, no other command learns. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly cols: number;
  readonly rows: number;
  /** Resolves when it can be told that it is there; to its end, if that has come. */
  readonly ready: (process: GuestProcess) => Promise<GuestExit | undefined>;
}

/** Starts a shell and waits for its prompt, so that what is typed next is not echoed before it. */
export async function openShell(
  deps: Dependencies,
  live: LiveWorkspace,
  input: OperationInput<"openShell">,
): Promise<{ shell: Shell; process: number }> {
  const { cols = 120, rows = 30 } = input;
  return await openTerminal(deps, live, {
    argv: ["/bin/sh", "-c", START],
    // An empty HISTFILE: what was typed is written nowhere.
    env: { ...promptOf(deps.store, live.workspaceId), HISTFILE: "" },
    secrets: live.secrets.environment(input.secret_env),
    cwd: toWorkspaceAbsolute(toWorkspaceRelative(input.cwd ?? WORKSPACE_ROOT)),
    cols,
    rows,
    ready: untilPrompt,
  });
}

/** Starts a program at a terminal of its own. It goes on without us, and is found again by its record. */
export async function openTerminal(
  deps: Dependencies,
  live: LiveWorkspace,
  { argv, env, secrets, cwd, cols, rows, ready }: TerminalProgram,
): Promise<{ shell: Shell; process: number }> {
  const guest = await live.guest();
  const { pids } = live.limits;
  const shellId = `sh-${randomName(8)}`;
  const stored = {
    shellId,
    cwd: live.secrets.redactor.text(cwd),
    cols,
    rows,
    state: "running",
    exitCode: null,
    openedAt: deps.clock.now(),
  } as const;
  let number: number;
  // Before the spawn: the next daemon could not find a process that has no record.
  deps.store.putShell(live.workspaceId, stored);
  try {
    const process = guest.spawn({
      argv,
      env: sandboxEnvironment(live, { ...env, ...secrets }, true),
      hasSecrets: hasAny(secrets),
      cwd,
      user: AGENT,
      pty: { cols, rows },
      stdin: true,
      keep: true,
      dropOldest: true,
      ringBytes: RING_BYTES,
      tag: shellTag(shellId),
      // SECURITY: the number of processes is bounded also where no cgroup bounds it (G-15).
      rlimits: [{ resource: RLIMIT_NPROC, soft: pids, hard: pids }],
    });
    ({ process: number } = await process.started);
    const exit = await ready(process);
    if (exit?.kind === "failed") {
      await guest.forget(number);
      throw failure("FILE_NOT_FOUND", `Cannot open a shell in ${cwd}: ${exit.message}`);
    }
  } catch (error) {
    deps.store.deleteShell(live.workspaceId, shellId);
    throw error;
  }
  deps.events.record({ kind: "shell.opened", workspace_id: live.workspaceId, shell_id: shellId, cwd: stored.cwd });
  return { shell: presentShell(live, stored), process: number };
}

/** Resolves at the first output, at the end, which it gives, or when neither comes. Then the process goes on alone. */
async function untilPrompt(process: GuestProcess): Promise<GuestExit | undefined> {
  const timer = setTimeout(() => process.detach(), PROMPT_PATIENCE_MS);
  const output = process.output();
  try {
    const { done } = await output.next();
    // The output also ends when the time is up. Then the shell still runs and there is no exit.
    return done ? await process.exit.catch(() => undefined) : undefined;
  } finally {
    clearTimeout(timer);
    await output.return();
    process.detach();
  }
}
