import type { Store, StoredService, StoredSession } from "../contracts/store.ts";
import type { Dependencies } from "./dependencies.ts";

/** What runs in a workspace and is known, to be saved with its machine: a workspace that goes on from there knows it too. */
export function readSession({ store, journal }: Dependencies, workspaceId: string): StoredSession {
  journal.flush();
  return {
    services: store.listServices(workspaceId),
    shells: store.listShells(workspaceId),
    commands: store.listRunningCommands().filter((entry) => entry.workspace_id === workspaceId),
  };
}

/** Records what goes on in a sandbox that was started from a saved machine; what of it really runs is found by adoption. */
export function writeSession(store: Store, workspaceId: string, { services, shells, commands }: StoredSession): void {
  for (const service of services) store.putService(workspaceId, service);
  for (const shell of shells) store.putShell(workspaceId, shell);
  for (const command of commands) store.insertCommand(workspaceId, command);
}

/** For a workspace beside the one that was saved, whose ports of the host are taken: it gets others. */
export const besideTheOther = (session: StoredSession): StoredSession => ({
  ...session,
  services: session.services.map((service): StoredService => {
    return { ...service, publishedPorts: service.publishedPorts.map((port) => ({ ...port, host_port: 0 })) };
  }),
});

/** Whether there is anything to look for. */
export const isEmptySession = ({ services, shells, commands }: StoredSession): boolean =>
  services.length + shells.length + commands.length === 0;
