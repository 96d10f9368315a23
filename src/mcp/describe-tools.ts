import { inputOf, inputSchema, outputSchema, type JsonSchema } from "./json-schema.ts";
import { MODES, type Selection, type ToolName } from "./profiles.ts";
import type { ToolAnnotations } from "./tool.ts";
import { TOOLS } from "./tool-registry.ts";

export interface ToolDescription {
  name: ToolName;
  description: string;
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
  annotations: ToolAnnotations;
}

/** The tools as a client sees them: narrowed and described for what was selected, with what is to say about this server. */
export function describeTools(
  { tools, mode, full }: Selection,
  added: Partial<Record<ToolName, string>>,
): ToolDescription[] {
  const rewritten: Partial<Record<ToolName, string>> = mode === undefined ? {} : MODES[mode].descriptions;
  return tools.map((name) => {
    const tool = TOOLS[name];
    const description = rewritten[name] ?? tool.description;
    return {
      name,
      description: added[name] === undefined ? description : `${description} ${added[name]}`,
      inputSchema: inputSchema(inputOf(tool, full)),
      outputSchema: outputSchema(tool.output),
      annotations: tool.annotations,
    };
  });
}
