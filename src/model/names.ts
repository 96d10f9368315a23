import { z } from "zod";
import { ARTIFACT_TYPES, EXECUTION_MODES, NETWORK_POLICIES, WORKSPACE_STATES } from "./vocabulary.ts";

export * from "./vocabulary.ts";

/** Schemas of the closed vocabularies. */
export const NetworkPolicy = z.enum(NETWORK_POLICIES);
export type NetworkPolicy = z.infer<typeof NetworkPolicy>;

export const WorkspaceState = z.enum(WORKSPACE_STATES);
export type WorkspaceState = z.infer<typeof WorkspaceState>;

export const ExecutionMode = z.enum(EXECUTION_MODES);
export type ExecutionMode = z.infer<typeof ExecutionMode>;

export const ArtifactType = z.enum(ARTIFACT_TYPES);
export type ArtifactType = z.infer<typeof ArtifactType>;

/** The databases of a system whose names are in files, in every environment. */
export const FILE_DATABASES = [
  "passwd",
  "group",
  "shadow",
  "hosts",
  "services",
  "protocols",
  "networks",
  "ethers",
  "rpc",
] as const;
