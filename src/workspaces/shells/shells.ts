import { constants } from "node:os";
import { isClocheError } from "../../base/errors.ts";
import type { StoredShell } from "../../contracts/store.ts";
import type { GuestProcess } from "../../guest/process.ts";
import { failure } from "../../model/error-codes.ts";
import type { OperationInput } from "../../model/operations.ts";
import type { Shell, ShellClosed, ShellList, ShellOutput, ShellSignalled, ShellWritten } from "../../model/shell.ts";
import type { Dependencies } from "../dependencies.ts";
import type { LiveWorkspace } from "../live-workspace.ts";
import { attachShell, type AttachContext } from "./attach-shell.ts";
import {
  findRunningShell,
  findShell,
  type FoundShell,
  presentShell,
  settled,
  shellIdOf,
  shellNotFound,
  shellTag,
} from "./find-shell.ts";
import { openShell, openTerminal, type TerminalProgram } from "./open-shell.ts";
import { PlainRenderer } from "./plain-renderer.ts";
import { readRing, waitForIdle } from "./read-ring.ts";
import { shellWindow } from "./shell-window.ts";
import { ended, signalShell, typeIntoShell, withShell } from "./type-into-shell.ts";

/** Between the hang-up and the end by force. */
const CLOSE_PATIENCE_MS = 1000;
const MAX_CHARS = 65_536;
/** A shell may take that long to be there. */
const OPENING_SECONDS = 60;

/**
 * Terminals in a sandbox that stay open between calls. All there is to know about one is in the guest and the store, so it goes on without
 * a client and without a daemon, and every call starts by looking it up.
 */
export class Shells {
  readonly #deps: Dependencies;
  readonly #renderer = new PlainRenderer();

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  async open(live: LiveWorkspace, input: OperationInput<"openShell">): Promise<Shell> {
    const { shell, process } = await openShell(this.#deps, live, input);
    this.#follow(live, shell.shell_id, process);
    return shell;
  }

  /** The same for another program than a shell; whoever attaches first sees all that it prints. */
  async openProgram(live: LiveWorkspace, program: Omit<TerminalProgram, "ready">): Promise<Shell> {
    const ready = (process: GuestProcess) => {
      process.detach();
      return Promise.resolve(undefined);
    };
    const { shell, process } = await openTerminal(this.#deps, live, { ...program, ready });
    this.#follow(live, shell.shell_id, process);
    return shell;
  }

  /** Of a workspace that does not run there are none. */
  async list(workspaceId: string, live: LiveWorkspace | undefined): Promise<ShellList> {
    const shells = live ? (await this.settle(live)).map((one) => presentShell(live, one)) : [];
    const running = shells.filter(({ state }) => state === "running").length;
    return { workspace_id: workspaceId, count: shells.length, running_count: running, shells };
  }

  /** The records, by what the guest knows now. */
  async settle(live: LiveWorkspace): Promise<StoredShell[]> {
    const { store, clock } = this.#deps;
    const records = store.listShells(live.workspaceId);
    if (records.length === 0) return [];
    const processes = await (await live.guest()).processes();
    return records.flatMap((record) => {
      const info = processes.find(({ tag }) => tag === shellTag(record.shellId));
      if (info) return [settled(this.#deps, live, record, info)];
      // One that is being opened has a record first. Any other was in an earlier sandbox, or never came to be.
      if ((record.openedAt ?? 0) < clock.now() - OPENING_SECONDS) store.deleteShell(live.workspaceId, record.shellId);
      return [];
    });
  }

  async read(
    live: LiveWorkspace,
    input: OperationInput<"readShell">,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<ShellOutput> {
    const { cursor = 0, max_chars: maxChars = MAX_CHARS, plain = false, wait_for_idle_ms: idleMs = null } = input;
    return await knowing(live, input.shell_id, async () => {
      const found = await this.#settled(live, input.shell_id, cursor, idleMs, signal);
      const { redactor } = live.secrets;
      const ring = await readRing(found, plain ? 0 : Math.max(0, cursor - redactor.reach), signal);
      const window = shellWindow(ring, redactor, { cursor, maxChars, running: found.info.exit === undefined });
      const { cols, rows } = found.stored;
      const seen = plain ? await this.#renderer.render({ ...window, cols, rows }) : undefined;
      const text = seen ? redactor.text(seen.text) : window.shown.toString("utf8");
      const output = seen ? withinChars(text, maxChars) : text;
      return {
        workspace_id: live.workspaceId,
        shell_id: input.shell_id,
        state: found.stored.state,
        cursor: window.cursor,
        next_cursor: window.nextCursor,
        output,
        plain,
        wait_for_idle_ms: idleMs,
        truncated: window.lost || window.cut || seen?.lost === true || output.length < text.length,
      };
    });
  }

  async write(live: LiveWorkspace, input: OperationInput<"writeShell">): Promise<ShellWritten> {
    // The Enter key: a terminal makes a line feed of it, unless a program asked to see keys as they are.
    const data = Buffer.from(input.input + ((input.append_newline ?? true) ? "\r" : ""));
    await knowing(live, input.shell_id, async () => {
      await typeIntoShell(await findRunningShell(this.#deps, live, input.shell_id), data);
    });
    return { ...names(live, input), bytes_written: data.length };
  }

  async signal(live: LiveWorkspace, input: OperationInput<"signalShell">): Promise<ShellSignalled> {
    const { signal = "INT" } = input;
    await knowing(live, input.shell_id, async () => {
      await signalShell(await findRunningShell(this.#deps, live, input.shell_id), signal);
    });
    return { ...names(live, input), signal, signalled: true };
  }

  async resize(live: LiveWorkspace, input: OperationInput<"resizeShell">): Promise<Shell> {
    return await knowing(live, input.shell_id, async () => {
      const found = await findRunningShell(this.#deps, live, input.shell_id);
      await withShell(found, (process) => process.resize(input.cols, input.rows));
      return this.#resized(live, found, input);
    });
  }

  /** Also of one that has ended: its output is gone then. */
  async close(live: LiveWorkspace, input: OperationInput<"closeShell">): Promise<ShellClosed> {
    await knowing(live, input.shell_id, async () => {
      const found = await findShell(this.#deps, live, input.shell_id);
      if (!found.info.exit) {
        await withShell(found, async (process) => {
          process.signal(constants.signals.SIGHUP, "tree");
          if (!(await ended(process, CLOSE_PATIENCE_MS))) process.signal(constants.signals.SIGKILL, "tree");
        });
      }
      await found.guest.forget(found.info.process);
      const { store, events } = this.#deps;
      store.transaction(() => {
        store.deleteShell(live.workspaceId, input.shell_id);
        events.record({ kind: "shell.closed", ...names(live, input) });
      });
    });
    return { ...names(live, input), closed: true };
  }

  /** Full duplex, until the client detaches or the shell ends. */
  async attach(live: LiveWorkspace, input: OperationInput<"attachShell">, context: AttachContext): Promise<Shell> {
    return await knowing(live, input.shell_id, async () => {
      const found = await findShell(this.#deps, live, input.shell_id);
      const resized = found.info.exit ? presentShell(live, found.stored) : this.#resized(live, found, input);
      await attachShell(found, live.secrets.redactor, input, context);
      return await findShell(this.#deps, live, input.shell_id).then(
        ({ stored }) => presentShell(live, stored),
        (error: unknown): Shell => {
          if (isClocheError(error) && error.code === "SHELL_NOT_FOUND") return { ...resized, state: "closed" };
          throw error;
        },
      );
    });
  }

  /** After a new daemon has found the sandbox: what only one of store and guest knows is removed. */
  async adopt(live: LiveWorkspace): Promise<void> {
    const { store } = this.#deps;
    const guest = await live.guest();
    const recorded = new Set(store.listShells(live.workspaceId).map(({ shellId }) => shellId));
    for (const { process, tag } of await guest.processes()) {
      const shellId = shellIdOf(tag);
      if (shellId === undefined) continue;
      if (recorded.delete(shellId)) this.#follow(live, shellId, process);
      else await guest.forgetIfThere(process);
    }
    for (const shellId of recorded) store.deleteShell(live.workspaceId, shellId);
  }

  /** Its end is written down when it comes: it is activity, and whoever lists the workspaces sees it. */
  #follow(live: LiveWorkspace, shellId: string, process: number): void {
    const { store, log } = this.#deps;
    const { workspaceId } = live;
    const watch = async () => {
      const exit = await (await live.guest()).watch(process);
      const record = live.isCurrent ? store.findShell(workspaceId, shellId) : undefined;
      if (record) settled(this.#deps, live, record, { exit });
    };
    // Whoever asks for the shell next finds out all the same.
    watch().catch((error: unknown) =>
      log.debug("lost sight of a shell", { workspaceId, shellId, error: String(error) }),
    );
  }

  /** The shell as it is after the wait that was asked for. */
  async #settled(
    live: LiveWorkspace,
    shellId: string,
    cursor: number,
    idleMs: number | null,
    signal: AbortSignal | undefined,
  ): Promise<FoundShell> {
    const found = await findShell(this.#deps, live, shellId);
    const { end } = found.info.stdout;
    if (cursor > end) {
      throw failure("INVALID_ARGUMENT", `Cursor ${cursor} is after the end of the output, ${end}`);
    }
    if (idleMs === null || idleMs === 0 || found.info.exit) return found;
    await waitForIdle(found, idleMs, signal);
    return await findShell(this.#deps, live, shellId);
  }

  #resized(live: LiveWorkspace, { stored }: FoundShell, { cols, rows }: { cols: number; rows: number }): Shell {
    const resized = { ...stored, cols, rows };
    this.#deps.store.putShell(live.workspaceId, resized);
    return presentShell(live, resized);
  }
}

const names = (live: LiveWorkspace, { shell_id }: { shell_id: string }) => ({
  workspace_id: live.workspaceId,
  shell_id,
});

/** A shell that is closed while something is done with it is not found any more. */
async function knowing<Result>(live: LiveWorkspace, shellId: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isClocheError(error) && error.code === "COMMAND_NOT_FOUND") throw shellNotFound(live, shellId);
    throw error;
  }
}

/** Cut, but not inside a character. */
function withinChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const cut = text.slice(0, maxChars);
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}
