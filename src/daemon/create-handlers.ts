import { constants } from "node:os";
import type { Places } from "../base/paths.ts";
import { packageVersion } from "../base/version.ts";
import { failure } from "../model/error-codes.ts";
import type { Dependencies } from "../workspaces/dependencies.ts";
import { diffWorkspace } from "../workspaces/diff-workspace.ts";
import { exportPath, listFiles, readFile, writeFile } from "../workspaces/file-verbs.ts";
import type { RunningCommand } from "../workspaces/running-command.ts";
import type { Workspaces } from "../workspaces/workspaces.ts";
import { DAEMON_STOPPING, type Handlers } from "./handlers.ts";
import { checkHealth } from "./health.ts";

/** The verbs as operations of the wire. */
export function createHandlers(deps: Dependencies, workspaces: Workspaces, places: Places): Handlers {
  const running = (id: string, sequence: number): RunningCommand => {
    const command = workspaces.live(id).commands.get(sequence);
    if (command) return command;
    throw failure(
      "COMMAND_NOT_FOUND",
      `Command ${sequence} of workspace ${workspaces.find(id).workspaceId} is not running`,
    );
  };
  return {
    createWorkspace: (input, context) => workspaces.create(input, context),
    listWorkspaces: () => settle(() => workspaces.list()),
    statusWorkspace: ({ workspace_id: id }) => settle(() => workspaces.status(id)),
    updateWorkspace: (input) => settle(() => workspaces.update(input)),
    deleteWorkspace: ({ workspace_id: id }) => workspaces.delete(id),
    execWorkspace: async ({ workspace_id: id, ...request }, { signal }) =>
      await workspaces.exec(id, request, { signal: whenClientLeaves(signal) }),
    streamWorkspace: async ({ workspace_id: id, ...request }, { signal, stdin, emit }) => {
      const { workspaceId } = workspaces.find(id);
      const onSequence = (sequence: number) => emit.started({ workspace_id: workspaceId, sequence });
      return await workspaces.exec(workspaceId, request, {
        signal: whenClientLeaves(signal),
        stdin,
        sink: emit,
        onSequence,
      });
    },
    attachCommand: async ({ workspace_id: id, ...request }, { signal, emit }) => {
      emit.started({ workspace_id: workspaces.find(id).workspaceId, sequence: request.sequence });
      return await workspaces.attach(id, request, emit, signal);
    },
    signalCommand: ({ workspace_id: id, sequence, signal }) =>
      settle(() => {
        running(id, sequence).process.signal(constants.signals[`SIG${signal}`], "group");
        return { workspace_id: workspaces.find(id).workspaceId, sequence, signalled: true };
      }),
    resizeCommand: ({ workspace_id: id, sequence, cols, rows }) =>
      settle(() => {
        running(id, sequence).process.resize(cols, rows);
        return { workspace_id: workspaces.find(id).workspaceId, sequence, resized: true };
      }),
    logsWorkspace: ({ workspace_id: id }) => settle(() => workspaces.logs(id)),
    listWorkspaceFiles: async (input) => await listFiles(workspaces.live(input.workspace_id), input),
    readWorkspaceFile: async (input) => await readFile(workspaces.live(input.workspace_id), input),
    writeWorkspaceFile: async (input) => {
      const live = workspaces.live(input.workspace_id);
      const written = await writeFile(live, input);
      workspaces.touch(live.workspaceId);
      return written;
    },
    diffWorkspace: async ({ workspace_id: id }) => await diffWorkspace(workspaces.live(id)),
    exportWorkspace: async (input, { signal }) => await exportPath(workspaces.live(input.workspace_id), input, signal),
    listEnvironments: async () => {
      const environments = await deps.environments.list();
      return { count: environments.length, environments };
    },
    pullEnvironment: async ({ environment: name }, context) => {
      await deps.environments.ensure(name, context);
      return await deps.environments.inspect(name);
    },
    inspectEnvironment: ({ environment: name }) => deps.environments.inspect(name),
    pruneEnvironments: () =>
      deps.environments.prune(new Set(deps.store.listWorkspaces().map((one) => one.environment))),
    doctor: ({ oci_runtime: ociRuntime }) => checkHealth(deps, places, packageVersion(), ociRuntime),
  };
}

/** A synchronous verb as an operation: what it throws becomes a rejection. */
async function settle<Result>(verb: () => Result): Promise<Result> {
  return await Promise.resolve().then(verb);
}

/** Aborted when the client leaves, but not when the daemon does: then the command goes on, and the next daemon takes it up. */
function whenClientLeaves(signal: AbortSignal): AbortSignal {
  const own = new AbortController();
  const leave = () => {
    if (signal.reason !== DAEMON_STOPPING) own.abort(signal.reason);
  };
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });
  return own.signal;
}
