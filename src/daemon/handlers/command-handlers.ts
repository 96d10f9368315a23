import { constants } from "node:os";
import { failure } from "../../model/error-codes.ts";
import type { RunningCommand } from "../../workspaces/running-command.ts";
import type { commandOperations } from "../../model/operations/command-operations.ts";
import type { Verbs } from "../verbs.ts";
import type { HandlersOf } from "../handlers.ts";
import { settle, whenClientLeaves } from "./settle.ts";

export function commandHandlers({ workspaces }: Verbs): HandlersOf<typeof commandOperations> {
  const running = (id: string, sequence: number): RunningCommand => {
    const live = workspaces.live(id);
    const command = live.commands.get(sequence);
    if (command) return command;
    throw failure("COMMAND_NOT_FOUND", `Command ${sequence} of workspace ${live.workspaceId} is not running`);
  };
  return {
    execWorkspace: async ({ workspace_id: id, ...request }, { signal }) =>
      await workspaces.exec(id, request, { signal: whenClientLeaves(signal) }),
    streamWorkspace: async ({ workspace_id: id, ...request }, { signal, stdin, emit }) => {
      const { workspaceId } = workspaces.live(id);
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
        return { workspace_id: workspaces.live(id).workspaceId, sequence, signalled: true };
      }),
    resizeCommand: ({ workspace_id: id, sequence, cols, rows }) =>
      settle(() => {
        running(id, sequence).process.resize(cols, rows);
        return { workspace_id: workspaces.live(id).workspaceId, sequence, resized: true };
      }),
    logsWorkspace: ({ workspace_id: id }) => settle(() => workspaces.logs(id)),
  };
}
