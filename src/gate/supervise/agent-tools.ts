/** A tool as it is listed. */
export interface AgentTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations: object;
}

const text = (description: string) => ({ type: "string", description });
const JUSTIFICATION = text(
  "Why you need it, for the person who decides: what you are doing, and what you will do with it. One or two sentences.",
);

const ROUTE = {
  type: "object",
  properties: {
    host: text("A host by its name, as in docs.example.com; *.example.com is for all hosts below it."),
    ports: { type: "array", items: { type: "integer" }, description: "Without any: 443 and 80." },
    matches: {
      type: "array",
      description: "Which requests. Without any: all requests to the host. Ask for no more than you need.",
      items: {
        type: "object",
        properties: {
          paths: {
            type: "array",
            items: {
              type: "object",
              properties: {
                type: { type: "string", enum: ["exact", "prefix", "regex"] },
                value: text("A path, as in /v1/models."),
              },
              required: ["type", "value"],
              additionalProperties: false,
            },
          },
          methods: { type: "array", items: text("As in GET.") },
          headers: {
            type: "array",
            items: {
              type: "object",
              properties: {
                name: { type: "string" },
                value: { type: "string" },
                type: { type: "string", enum: ["exact", "prefix", "regex"] },
              },
              required: ["name", "value"],
              additionalProperties: false,
            },
          },
        },
        additionalProperties: false,
      },
    },
  },
  required: ["host"],
  additionalProperties: false,
};

const takes = (properties: object, required: readonly string[]) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const WAITS =
  "The call waits up to 30 seconds for the answer. If it says pending, go on with other work, and call again with the same arguments to hear the decision.";

const EGRESS_BLOCK: AgentTool = {
  name: "egress-block",
  title: "Ask for a route",
  description: `Asks the operator to let requests to a host pass. Use it when a request was refused with EGRESS_DENIED, or when a host's name does not resolve. An approved route works at once: send the request again. ${WAITS}`,
  inputSchema: takes(
    { routes: { type: "array", items: ROUTE, description: "At most 16 routes." }, justification: JUSTIFICATION },
    ["routes", "justification"],
  ),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};

const CAPABILITY_BLOCK: AgentTool = {
  name: "capability-block",
  title: "Ask for a change of the environment",
  description: `Asks the operator for programs that this sandbox lacks and that you cannot install yourself. After an approval the environment is built anew and you are started again in it: your files and this conversation are kept, and processes that run are ended. So commit or save what you are at before you ask. ${WAITS}`,
  inputSchema: takes(
    {
      packages: { type: "array", items: { type: "string" }, description: "Of the system's package manager, as in jq." },
      steps: {
        type: "array",
        items: { type: "string" },
        description: "Shell commands that run as root while the environment is built, after the packages.",
      },
      justification: JUSTIFICATION,
    },
    ["justification"],
  ),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
};

const LIST_EGRESS_ROUTES: AgentTool = {
  name: "list-egress-routes",
  title: "See what can be reached",
  description:
    "Lists the hosts that this sandbox can reach now, with ports and rules. Use it before you try hosts one by one, and before you ask for a route.",
  inputSchema: takes({}, []),
  annotations: { readOnlyHint: true, openWorldHint: false },
};

const SIGNAL_DONE: AgentTool = {
  name: "signal-done",
  title: "Say that the work is done",
  description:
    "Tells the operator that your task is done, or that you cannot go on. It ends nothing. Call it once, at the end, with what they should know.",
  inputSchema: takes({ summary: text("What was done, and what is left. At most 4096 characters.") }, ["summary"]),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};

/** What a sandbox is offered. SECURITY: where the environment cannot be changed, nobody can ask for it (G-107) */
export const agentTools = (canChangeEnvironment: boolean): readonly AgentTool[] => [
  EGRESS_BLOCK,
  ...(canChangeEnvironment ? [CAPABILITY_BLOCK] : []),
  LIST_EGRESS_ROUTES,
  SIGNAL_DONE,
];
