import { isClocheError, messageOf } from "../base/errors.ts";
import { describeIssue } from "../model/describe-issue.ts";
import { failure, toErrorDocument } from "../model/error-codes.ts";
import { cutMiddle, TEXT_BUDGET } from "./bounded.ts";
import { inputOf } from "./json-schema.ts";
import { PROFILES } from "./profiles.ts";
import type { Tool, ToolContext } from "./tool.ts";
import { TOOLS } from "./tool-registry.ts";

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
    const schema = inputOf(tool, full);
    const parsed = schema.safeParse(args ?? {});
    if (!parsed.success) {
      throw failure("INVALID_ARGUMENT", `Cannot call ${tool.name}: ${describeIssue(schema, args, parsed.error)}`);
    }
    const result = await tool.run(parsed.data, context);
    return {
      content: [
        { type: "text", text: cutMiddle(tool.text(result, parsed.data), WORDS_BUDGET, IN_THE_FIELDS) || "Done" },
      ],
      structuredContent: { ...result },
    };
  } catch (error) {
    return errorResult(error);
  }
}

export function errorResult(error: unknown): ToolResult {
  const told = isClocheError(error) ? error : failure("INTERNAL", messageOf(error), { cause: error });
  const { error: document } = toErrorDocument(told);
  const hint = forTools(document.hint);
  const details = document.details && bounded(document.details);
  return {
    content: [{ type: "text", text: `error ${document.code}: ${cut(document.message)}\nhint: ${hint}` }],
    structuredContent: { error: { ...document, message: cut(document.message), hint, ...(details && { details }) } },
    isError: true,
  };
}

const cut = (text: string): string => cutMiddle(text, TEXT_BUDGET, "ask for less at once");

function bounded(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [name, typeof value === "string" ? cut(value) : value]),
  );
}

/** The hints of the wire name commands and options of the CLI; who calls tools has the tool and the argument of the same name. */
function forTools(hint: string): string {
  const toTool = (whole: string, _group: string, verbs: string): string => {
    const words = verbs.replaceAll(" ", "_").replaceAll("-", "_");
    const bare = /^(snapshot|service|shell)_/.test(words) ? words : `workspace_${words}`;
    return KNOWN.has(bare) ? `\`${bare}\`` : whole;
  };
  const commands = hint.replaceAll(/`cloche (workspace|ws) ([a-z-]+(?: [a-z]+(?=[ `]))*)[^`]*`/g, toTool);
  // What is quoted is a command line, and stays one.
  return commands.replaceAll(/`[^`]*`|(?<![\w-])--([a-z]+(?:-[a-z]+)*)/g, (whole, option = "") => {
    const name = (option as string).replaceAll("-", "_");
    return ARGUMENT_NAMES.has(name) ? name : whole;
  });
}

const ARGUMENT_NAMES: ReadonlySet<string> = new Set(
  Object.values(TOOLS).flatMap(({ input }) => Object.keys(input.shape)),
);
const KNOWN: ReadonlySet<string> = new Set<string>(PROFILES["workspace-full"]);
