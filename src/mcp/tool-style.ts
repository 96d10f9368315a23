import type { z } from "zod";
import { COMMAND_LINES, type HintStyle } from "../model/hint.ts";
import { isOperation, OPERATIONS } from "../model/operations.ts";
import type { Tool } from "./tool.ts";

/** A call that a hint advises, by the name of its tool; as a command line where no tool does it. */
export const toolCall: HintStyle["call"] = (advised) => {
  const { operation } = advised;
  const mcp = isOperation(operation) ? OPERATIONS[operation].mcp : null;
  return mcp ? `\`${mcp.tool}\`` : COMMAND_LINES.call(advised);
};

/** How a hint of the wire is said to the caller of a tool: other tools by their names, arguments as that tool has them. What it does not take is not advised. */
export const toolStyle = ({ input: { shape } }: Tool): HintStyle => ({
  call: toolCall,
  argument({ argument, value }) {
    const schema = (shape as Readonly<Record<string, z.ZodType | undefined>>)[argument];
    if (schema === undefined) return undefined;
    if (value === undefined) return argument;
    return schema.safeParse(value).success ? `${argument} ${JSON.stringify(value)}` : undefined;
  },
});
