import { INPUTS } from "../../model/operation-inputs.ts";
import { boundExec } from "../bounded-exec.ts";
import { followCommand } from "../followed-command.ts";
import { execShape } from "../result-shapes.ts";
import { execWords } from "../result-words.ts";
import { DESTROYS, defineTool } from "../tool.ts";

export const tool = defineTool({
  name: "workspace_exec",
  description: "Run a command in a workspace. A non-zero exit code is a result, not an error.",
  input: INPUTS.execWorkspace,
  output: execShape,
  annotations: DESTROYS,
  async run({ workspace_id: id, ...options }, { cloche, signal, report }) {
    const result = report
      ? await followCommand(await cloche.openCommand(id, { ...options, signal }), report)
      : await cloche.execWorkspace(id, { ...options, signal });
    return boundExec(result, true);
  },
  text: execWords,
});
