import type { LiveWorkspace } from "../../workspaces/live-workspace.ts";
import type { shellOperations } from "../../model/operations/shell-operations.ts";
import type { Verbs } from "../verbs.ts";
import type { HandlersOf } from "../handlers.ts";

export function shellHandlers({ workspaces, shells }: Verbs): HandlersOf<typeof shellOperations> {
  /** What is done to a shell is activity; reading is not. */
  const acting = async <Result>(id: string, verb: (live: LiveWorkspace) => Promise<Result>): Promise<Result> => {
    const live = workspaces.live(id);
    const result = await verb(live);
    workspaces.touch(live.workspaceId);
    return result;
  };
  return {
    openShell: (input) => acting(input.workspace_id, (live) => shells.open(live, input)),
    readShell: async (input, { signal }) => await shells.read(workspaces.live(input.workspace_id), input, { signal }),
    writeShell: (input) => acting(input.workspace_id, (live) => shells.write(live, input)),
    signalShell: (input) => acting(input.workspace_id, (live) => shells.signal(live, input)),
    resizeShell: async (input) => await shells.resize(workspaces.live(input.workspace_id), input),
    closeShell: (input) => acting(input.workspace_id, (live) => shells.close(live, input)),
    attachShell: (input, { signal, stdin, emit }) =>
      acting(input.workspace_id, (live) => {
        emit.started({ workspace_id: live.workspaceId, shell_id: input.shell_id });
        return shells.attach(live, input, { signal, stdin: stdin ?? nothing(), sink: emit });
      }),
  };
}

async function* nothing(): AsyncGenerator<Buffer> {
  // A client without an input just watches.
}
