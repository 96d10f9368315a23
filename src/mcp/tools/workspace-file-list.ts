import { INPUTS } from "../../model/operation-inputs.ts";
import { listPage } from "../file-pages.ts";
import { cursor } from "../paging.ts";
import { fileListShape } from "../result-shapes.ts";
import { fileListWords } from "../result-words.ts";
import { defineTool, READS } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_file_list",
  description: "List files.",
  input: INPUTS.listWorkspaceFiles.extend({ cursor }),
  output: fileListShape,
  annotations: READS,
  run: async ({ workspace_id: id, cursor: from, ...options }, { cloche, signal }) =>
    listPage(await cloche.listWorkspaceFiles(id, { ...options, signal }), from),
  text: fileListWords,
});
