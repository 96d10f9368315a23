import type { Backend } from "../contracts/backend.ts";
import type { Rootfs } from "../contracts/environment.ts";
import { DEFAULTS } from "../model/config.ts";
import { failure } from "../model/error-codes.ts";
import { call, way } from "../model/hint.ts";

/** Refuses what a backend does not declare, before anything is made. */
export function requireCapabilities(
  { name, capabilities }: Backend,
  asked: { rootfs: Rootfs; ociRuntime: string | null | undefined; from?: string },
): void {
  if (!capabilities.hostFolders && asked.rootfs.hostPaths.length > 0) {
    throw failure(
      "NOT_SUPPORTED",
      `Backend "${name}" cannot show folders of this host, as environment "${asked.rootfs.name}" does`,
      {
        hint:
          asked.from === undefined
            ? `Use another environment, such as ${DEFAULTS.machine_environment}`
            : [
                way`Use another environment: ${call("createWorkspace", { environment: DEFAULTS.machine_environment, from_workspace: asked.from, backend: name })}`,
              ],
      },
    );
  }
  if (!capabilities.machineFiles && asked.rootfs.machineFile !== undefined) {
    throw failure(
      "NOT_SUPPORTED",
      `Backend "${name}" does not take packed machines, such as environment "${asked.rootfs.name}"`,
      {
        hint: "Use the backend smolmachines for it",
      },
    );
  }
  if (!capabilities.ociRuntime && asked.ociRuntime != null) {
    throw failure("NOT_SUPPORTED", `Backend "${name}" takes no OCI runtime`, {
      hint: "Leave --oci-runtime and CLOCHE_OCI_RUNTIME out, or use the backend container or docker",
    });
  }
}

/** Whether a run there can be given another environment in the place of this one. The host's own system is not ours to change. */
export const canChangeEnvironment = ({ capabilities }: Backend, environment: string): boolean =>
  capabilities.remediation === true && environment !== DEFAULTS.environment;

/** What a workspace starts from when nobody says. */
export const defaultEnvironment = ({ capabilities }: Backend): string =>
  capabilities.hostFolders ? DEFAULTS.environment : DEFAULTS.machine_environment;
