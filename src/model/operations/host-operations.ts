import { z } from "zod";

const environment = z.strictObject({ environment: z.string().min(1) });

export const hostOperations = {
  listEnvironments: z.strictObject({}),
  /** `build_network`: where steps of others build it, they may use the network. */
  pullEnvironment: environment.extend({ build_network: z.boolean().optional() }),
  inspectEnvironment: environment,
  pruneEnvironments: z.strictObject({
    environments: z.array(environment.shape.environment).min(1).max(256).optional(),
    dry_run: z.boolean().optional(),
  }),
  prepare: z.strictObject({
    environment: z.string().min(1).max(256).optional(),
    backend: z.string().min(1).max(64).optional(),
    oci_runtime: z.string().min(1).max(4096).optional(),
  }),
  doctor: z.strictObject({
    backend: z.string().min(1).max(64).optional(),
    oci_runtime: z.string().min(1).max(4096).optional(),
  }),
  daemonStatus: z.strictObject({}),
  stopDaemon: z.strictObject({}),
};
