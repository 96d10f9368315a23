import type { shellOperations } from "../../model/operations/shell-operations.ts";
import type { Shells } from "../shells/shells.ts";
import type { WorkspaceVerbs } from "../verb.ts";

export function shellVerbs(shells: Shells): WorkspaceVerbs<typeof shellOperations> {
  return {
    listShells: ({ workspaceId, liveIfRunning }) => shells.list(workspaceId, liveIfRunning),
    openShell: ({ live }, input) => shells.open(live, input),
    readShell: ({ live }, input, { signal }) => shells.read(live, input, { signal }),
    writeShell: ({ live }, input) => shells.write(live, input),
    signalShell: ({ live }, input) => shells.signal(live, input),
    resizeShell: ({ live }, input) => shells.resize(live, input),
    closeShell: ({ live }, input) => shells.close(live, input),
    attachShell: ({ live }, input, { signal, stdin, emit }) => {
      emit.started({ workspace_id: live.workspaceId, shell_id: input.shell_id });
      return shells.attach(live, input, { signal, stdin: stdin ?? nothing(), sink: emit });
    },
  };
}

async function* nothing(): AsyncGenerator<Buffer> {
  // A client without an input just watches.
}
