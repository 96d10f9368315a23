import type { Labels } from "../model/workspace.ts";

/**
 * What a copy of a workspace keeps of its labels.
 * SECURITY: whose a workspace is does not pass on with it: a copy that the user makes of an agent's is the user's, and may get secrets (G-23)
 */
export const inheritedLabels = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => !key.startsWith("cloche.")));
