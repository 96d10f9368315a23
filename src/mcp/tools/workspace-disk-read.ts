import { INPUTS } from "../../model/operation-inputs.ts";
import { readThatFits } from "../bounded.ts";
import { fileContentShape } from "../result-shapes.ts";
import { fileWords } from "../result-words.ts";
import { defineTool, READS } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_disk_read",
  description: "Read a file of a stopped workspace, from offset on; next_offset is where to read on.",
  input: INPUTS.readWorkspaceDisk,
  output: fileContentShape,
  annotations: READS,
  run: ({ workspace_id: id, path, max_bytes: most, ...asked }, { cloche, signal }) =>
    readThatFits(
      (max_bytes) => cloche.readWorkspaceDisk(id, path, { ...asked, max_bytes, signal }),
      ({ content }) => content,
      most,
    ),
  text: fileWords,
});
