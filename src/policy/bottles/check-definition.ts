import { z } from "zod";
import { AgentDefinition } from "../../model/agent-definition.ts";
import { Bottle } from "../../model/bottle.ts";
import { describeIssue } from "../../model/describe-issue.ts";
import { issuePath } from "../../model/issue-path.ts";
import { parseEgress } from "../egress/parse-egress.ts";

/** As it comes in an object: what a file has as its body is a key. */
export const AgentObject = AgentDefinition.extend({ prompt: z.string().max(1_048_576).optional() });
export type AgentObject = z.infer<typeof AgentObject>;

/** What is wrong with a definition, as a clause, and where. */
export interface DefinitionProblem {
  readonly path: readonly PropertyKey[];
  readonly problem: string;
}

export type Checked<Definition> = { readonly definition: Definition } | DefinitionProblem;

export function checkBottle(value: unknown): Checked<Bottle> {
  const checked = check(Bottle, value);
  if ("problem" in checked || !checked.definition.egress) return checked;
  const compiled = parseEgress(checked.definition.egress);
  return "problem" in compiled
    ? { path: ["egress", ...compiled.path], problem: `in "egress", ${compiled.problem}` }
    : checked;
}

export const checkAgent = (value: unknown): Checked<AgentDefinition> => check(AgentDefinition, value);
export const checkAgentObject = (value: unknown): Checked<AgentObject> => check(AgentObject, value);

function check<Schema extends z.ZodType>(schema: Schema, value: unknown): Checked<z.infer<Schema>> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { definition: parsed.data };
  return { path: issuePath(parsed.error), problem: describeIssue(schema, value, parsed.error) };
}
