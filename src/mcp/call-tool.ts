import { isClocheError, messageOf } from "../base/errors.ts";
import { failure, toErrorDocument } from "../model/error-codes.ts";
import { hintWords } from "../model/hint.ts";
import { cutMiddle, TEXT_BUDGET } from "./bounded.ts";
import { takeArguments } from "./flat-arguments.ts";
import { fitResult } from "./fit-result.ts";
import { inputOf } from "./json-schema.ts";
import { toolStyle } from "./tool-style.ts";
import type { Tool, ToolContext } from "./tool.ts";

export interface ToolResult {
  content: { type: "text"; text: string }[];
  structuredContent: Record<string, unknown>;
  isError?: true;
  [key: string]: unknown;
}

/** A text budget for the words around structured content: enough for two outputs that are bounded themselves. */
const WORDS_BUDGET = TEXT_BUDGET * 2;
const IN_THE_FIELDS = "the fields of the structured content have more";

/** Checks the arguments, does the work, and answers within the budget. What fails is a result too: the model is to see it and go on. */
export async function callTool(tool: Tool, args: unknown, full: boolean, context: ToolContext): Promise<ToolResult> {
  try {
    const input = takeArguments(tool.name, inputOf(tool, full), args);
    const result = await tool.run(input, context);
    return {
      content: [{ type: "text", text: cutMiddle(tool.text(result, input), WORDS_BUDGET, IN_THE_FIELDS) || "Done" }],
      structuredContent: fitResult(result, tool.readOn),
    };
  } catch (error) {
    return errorResult(error, tool);
  }
}

/** What went wrong with a tool, and what to do next, in terms of tools. */
export function errorResult(error: unknown, tool: Tool): ToolResult {
  const told = isClocheError(error) ? error : failure("INTERNAL", messageOf(error), { cause: error });
  const { error: document } = toErrorDocument(told);
  // An advice that none of the tools can follow is told as it is.
  const hint = (told.advice && hintWords(told.advice, toolStyle(tool))) || document.hint;
  const details = document.details && bounded(document.details);
  return {
    content: [{ type: "text", text: `error ${document.code}: ${cut(document.message)}\nhint: ${hint}` }],
    structuredContent: fitResult({
      error: { ...document, message: cut(document.message), hint, ...(details && { details }) },
    }),
    isError: true,
  };
}

const cut = (text: string): string => cutMiddle(text, TEXT_BUDGET, "ask for less at once");

function bounded(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [name, typeof value === "string" ? cut(value) : value]),
  );
}
