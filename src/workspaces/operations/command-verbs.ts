import { constants } from "node:os";
import { failure } from "../../model/error-codes.ts";
import type { commandOperations } from "../../model/operations/command-operations.ts";
import { attachCommand } from "../adopt-commands.ts";
import { whenCallerLeaves } from "../caller-leaves.ts";
import type { Dependencies } from "../dependencies.ts";
import { entrySoFar, execCommand, startDetached } from "../exec-command.ts";
import type { LiveWorkspace } from "../live-workspace.ts";
import type { RunningCommand } from "../running-command.ts";
import { signalProcess } from "../services/service-process.ts";
import type { WorkspaceVerbs } from "../verb.ts";

export function commandVerbs(deps: Dependencies): WorkspaceVerbs<typeof commandOperations> {
  return {
    execWorkspace: ({ live }, request, { signal }) =>
      execCommand(deps, live, request, { signal: whenCallerLeaves(signal) }),
    streamWorkspace: ({ workspaceId, live }, request, { signal, stdin, emit }) =>
      execCommand(deps, live, request, {
        signal: whenCallerLeaves(signal),
        stdin,
        sink: emit,
        onSequence: (sequence) => emit.started({ workspace_id: workspaceId, sequence }),
      }),
    startCommand: async ({ workspaceId, live }, request) => ({
      workspace_id: workspaceId,
      sequence: await startDetached(deps, live, request),
    }),
    attachCommand: ({ workspaceId, live }, request, { signal, emit }) => {
      emit.started({ workspace_id: workspaceId, sequence: request.sequence });
      return attachCommand(deps, live, request, emit, signal);
    },
    signalCommand: async ({ workspaceId, live }, { sequence, signal }) => {
      const number = constants.signals[`SIG${signal}`];
      const adopted = live.adopted.get(sequence);
      // One of an earlier daemon whose output nobody reads yet gets it all the same.
      if (adopted && !live.commands.has(sequence)) signalProcess(await live.guest(), adopted.process, number, "group");
      else runningCommand(live, sequence).process.signal(number, "group");
      return { workspace_id: workspaceId, sequence, signalled: true };
    },
    resizeCommand: ({ workspaceId, live }, { sequence, cols, rows }) => {
      runningCommand(live, sequence).process.resize(cols, rows);
      return { workspace_id: workspaceId, sequence, resized: true };
    },
    logsWorkspace: ({ workspaceId, liveIfRunning }) => ({
      workspace_id: workspaceId,
      entries: deps.journal
        .entries(workspaceId)
        .map((entry) => entrySoFar(entry, liveIfRunning?.commands.get(entry.sequence), deps.clock.now())),
    }),
  };
}

function runningCommand(live: LiveWorkspace, sequence: number): RunningCommand {
  const command = live.commands.get(sequence);
  if (command) return command;
  throw failure("COMMAND_NOT_FOUND", `Command ${sequence} of workspace ${live.workspaceId} is not running`);
}
