import { INPUTS } from "../../model/operation-inputs.ts";
import { readThatFits } from "../bounded.ts";
import { fileContentShape } from "../result-shapes.ts";
import { fileWords } from "../result-words.ts";
import { defineTool, READS } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_file_read",
  description: "Read a file, from offset on; next_offset is where to read on.",
  input: INPUTS.readWorkspaceFile,
  output: fileContentShape,
  annotations: READS,
  run: ({ workspace_id: id, path, max_bytes: most, ...asked }, { cloche, signal }) =>
    readThatFits(
      (max_bytes) => cloche.readWorkspaceFile(id, path, { ...asked, max_bytes, signal }),
      ({ content }) => content,
      most,
    ),
  text: fileWords,
});
