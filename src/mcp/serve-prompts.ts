import {
  ProtocolError,
  ProtocolErrorCode,
  type GetPromptResult,
  type ListPromptsResult,
} from "@modelcontextprotocol/server";
import { PROMPTS } from "./prompts.ts";

export function listPrompts(): ListPromptsResult["prompts"] {
  return Object.entries(PROMPTS).map(([name, { description, arguments: known }]) => ({
    name,
    description,
    arguments: known.map((one) => ({ ...one })),
  }));
}

export function getPrompt(name: string, given: Readonly<Record<string, string>>): GetPromptResult {
  const prompt = Object.hasOwn(PROMPTS, name) ? PROMPTS[name] : undefined;
  if (prompt === undefined)
    throw invalid(`There is no prompt "${name.slice(0, 100)}". Use one of ${Object.keys(PROMPTS).join(", ")}`);
  const missing = prompt.arguments.find((one) => one.required && !given[one.name]);
  if (missing) throw invalid(`Prompt "${name}" needs "${missing.name}": ${missing.description}`);
  return {
    description: prompt.description,
    messages: [{ role: "user", content: { type: "text", text: prompt.text(given) } }],
  };
}

const invalid = (message: string): ProtocolError => new ProtocolError(ProtocolErrorCode.InvalidParams, message);
