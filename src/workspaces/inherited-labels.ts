import type { Labels } from "../model/workspace.ts";

/**
 * What a copy of a workspace keeps of its labels.
 * SECURITY: the label that names the owner is not copied. A copy that the user makes of an agent's workspace is the user's, and may get secrets (G-23)
 */
export const inheritedLabels = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => !key.startsWith("cloche.")));
