import { z } from "zod";
import { path, secretName } from "../../model/operations/fields.ts";
import { INPUTS } from "../../model/operation-inputs.ts";
import { leftOutWords } from "../result-words.ts";
import { seedShape, workspaceShape } from "../result-shapes.ts";
import { ADDS, defineTool } from "../tool.ts";

/** As on the wire, without what only the server says. */
const Secrets = z
  .array(
    z.union([
      z.strictObject({ name: secretName, value: z.string() }),
      z.strictObject({ name: secretName, file_path: path }),
    ]),
  )
  .max(64);

export const tool = defineTool({
  name: "workspace_create",
  description: "Create a disposable, isolated workspace to work in.",
  input: INPUTS.createWorkspace
    .omit({
      // SECURITY: a policy names files and commands of the host: an agent has no part in it (G-57)
      egress: true,
      egress_tokens: true,
      grace_seconds: true,
      keep: true,
      oci_runtime: true,
      origin_kind: true,
      origin_ref: true,
      read_scope: true,
      remember_include: true,
    })
    .extend({ secrets: Secrets.optional() }),
  output: workspaceShape.pick({ workspace_id: true }).extend({
    workspace_seed: seedShape,
  }),
  annotations: ADDS,
  async run(input, { cloche, defaults, signal, report }) {
    const isMoved = input.from_workspace !== undefined; // then all that the call does not name is as with that one
    return await cloche.createWorkspace({
      ...input,
      environment: input.environment ?? (isMoved ? undefined : defaults.environment),
      backend: input.backend ?? (isMoved ? undefined : defaults.backend),
      signal,
      onProgress: ({ step }) => report?.(step),
    });
  },
  text({ workspace_id: id, workspace_seed: seed }, { from_workspace: from }) {
    if (from !== undefined) return `Created ${id} from ${from}`;
    const { mode, seed_path: path, origin_ref: ref } = seed;
    const what = mode === "empty" ? "empty" : `with the files of ${ref ?? path ?? "the seed"}`;
    return `Created ${id}, ${what}${leftOutWords(seed)}`;
  },
});
